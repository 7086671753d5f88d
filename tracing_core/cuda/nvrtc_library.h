// Declares load_nvrtc(), which fills an NvrtcApi from the machine's NVRTC, or says why there is none.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "tracing_core/cuda/nvrtc_api.h"

namespace tracing::inline v1::cuda {

/// The version of CUDA that an NVRTC belongs to.
struct NvrtcVersion {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(NvrtcVersion const&, NvrtcVersion const&) noexcept = default;
};

/// The oldest NVRTC that load_nvrtc() takes.
inline constexpr NvrtcVersion kOldestNvrtc{12, 0};

/// Why there is no NVRTC.
enum class NvrtcAbsence : std::uint8_t {
  none,       ///< it is here
  no_file,    ///< the loader finds no such library, or cannot load it
  not_nvrtc,  ///< a library that lacks one of the calls
  too_old,    ///< older than kOldestNvrtc
};

/// An NVRTC, or the reason why there is none.
struct NvrtcLibrary {
  NvrtcApi api{};  ///< every call, or none at all
  NvrtcAbsence absence = NvrtcAbsence::no_file;
  NvrtcVersion version{};
  std::string path{};         ///< the file that was opened
  std::string explanation{};  ///< what is missing and what helps; empty with an NVRTC

  explicit operator bool() const noexcept { return absence == NvrtcAbsence::none; }
};

/// Opens NVRTC: the file `path` alone, or where that is empty libnvrtc.so.13, .12 or libnvrtc.so, in the lib64 of CUDA_PATH,
/// where that is set, then where the loader looks. libnvrtc-builtins, which NVRTC asks the loader for by name,
/// is opened with it from the same folder. Neither is ever closed. Never throws but for memory. Thread-safe. Costs 5 ms, on a
/// cold disk 120.
NvrtcLibrary load_nvrtc(std::string const& path = {});

}  // namespace tracing::inline v1::cuda
