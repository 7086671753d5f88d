// load_nvrtc(): fills an NvrtcApi from the machine's NVRTC, or explains why it cannot.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "tracing_core/cuda/nvrtc_api.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// The CUDA version of an NVRTC.
struct NvrtcVersion {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(NvrtcVersion const&, NvrtcVersion const&) noexcept = default;
};

/// The oldest version that load_nvrtc() accepts.
inline constexpr NvrtcVersion kOldestNvrtc{12, 0};

/// The reason why no NVRTC can be used.
enum class NvrtcAbsence : std::uint8_t {
  none,       ///< an NVRTC can be used
  no_file,    ///< the loader does not find the library, or cannot load it
  not_nvrtc,  ///< the library lacks a call of NvrtcApi
  too_old,    ///< older than kOldestNvrtc
};

/// An NVRTC, or the reason why no NVRTC can be used.
struct NvrtcLibrary {
  NvrtcApi api{};  ///< has all calls if an NVRTC can be used, and no calls otherwise
  NvrtcAbsence absence = NvrtcAbsence::no_file;
  NvrtcVersion version{};
  std::string path{};         ///< the file that was opened
  std::string explanation{};  ///< what is missing and how to fix it; empty if an NVRTC can be used

  explicit operator bool() const noexcept { return absence == NvrtcAbsence::none; }
};

/// Opens the file `path` or, if `path` is empty, libnvrtc.so.13, libnvrtc.so.12 or libnvrtc.so in the folder lib64 of
/// CUDA_PATH or on the loader's path. Also opens libnvrtc-builtins from the same folder, because NVRTC loads it by
/// name. Never closes these libraries. Throws only std::bad_alloc. Thread-safe. Costs 5 ms; 120 ms if the files are not
/// cached by the system.
NvrtcLibrary load_nvrtc(std::string const& path = {});

}}}  // namespace tracing::v1::cuda
