// load_driver(): fills a DriverApi from the machine's CUDA driver, or explains why there is none.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

#include "tracing_core/cuda/driver_api.h"

namespace tracing::inline v1::cuda {

/// Why no driver can be used.
enum class DriverAbsence : std::uint8_t {
  none,       ///< there is one
  no_file,    ///< the library cannot be opened: no driver is installed
  stub,       ///< the library is the toolkit's stub, which is for linking only
  too_old,    ///< older than CUDA 12.0, or without a call of DriverApi
  no_device,  ///< there is a driver, but no device
  failed,     ///< cuInit failed in another way
};

/// A driver, or the reason why there is none.
struct DriverLibrary {
  DriverApi api;  ///< all calls, or none
  DriverAbsence absence = DriverAbsence::none;
  CUresult result = CUDA_SUCCESS;  ///< of cuInit, if it was called
  int version = 0;                 ///< the CUDA version of the driver: 12040 for 12.4; 0 if unknown
  std::string explanation;         ///< what is missing and how to fix it; empty if there is a driver

  explicit operator bool() const noexcept { return absence == DriverAbsence::none; }
};

/// Opens the driver's library, resolves each call in the version of its row, and initialises CUDA (cuInit). What is
/// missing is explained in the result.
///
/// `name` is a path or a name for the loader, as for dlopen(); the library is never closed. Thread-safe. The first call
/// in a process costs about 100 ms, because of cuInit; keep the result.
DriverLibrary load_driver(char const* name = "libcuda.so.1");

}  // namespace tracing::inline v1::cuda
