// load_driver(): fills a DriverApi from the machine's CUDA driver, or explains why it cannot.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

#include "tracing_core/cuda/driver_api.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// The reason why no driver can be used.
enum class DriverAbsence : std::uint8_t {
  none,       ///< a driver can be used
  no_file,    ///< the library cannot be opened: no driver is installed
  stub,       ///< the library is the toolkit's stub, which is for linking only
  too_old,    ///< older than CUDA 12.0, or without a call of DriverApi
  no_device,  ///< the driver finds no device
  failed,     ///< cuInit failed in another way
};

/// A driver, or the reason why no driver can be used.
struct DriverLibrary {
  DriverApi api;  ///< has all calls if a driver can be used, and no calls otherwise
  DriverAbsence absence = DriverAbsence::none;
  CUresult result = CUDA_SUCCESS;  ///< of cuInit, if it was called
  int version = 0;                 ///< the CUDA version of the driver: 12040 for 12.4; 0 if unknown
  std::string explanation;         ///< what is missing and how to fix it; empty if a driver can be used

  explicit operator bool() const noexcept { return absence == DriverAbsence::none; }
};

/// Opens the driver's library, resolves each call in the version of its row, and initialises CUDA (cuInit). If that
/// fails, the result explains what is missing.
///
/// `name` is a path or a name for the loader, as for dlopen(); the library is never closed. Thread-safe. The first call
/// in a process costs about 100 ms, because of cuInit; keep the result.
DriverLibrary load_driver(char const* name = "libcuda.so.1");

}}}  // namespace tracing::v1::cuda
