// Declares load_driver(), which fills a DriverApi from the machine's CUDA driver, or says why there is none.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

#include "tracing_core/cuda/driver_api.h"

namespace tracing::inline v1::cuda {

/// Why there is no driver to use.
enum class DriverAbsence : std::uint8_t {
  none,       ///< there is one
  no_file,    ///< the library cannot be opened: no driver is installed
  stub,       ///< the library is the toolkit's, which is for linking only
  too_old,    ///< older than CUDA 12.0, or without a call that we need
  no_device,  ///< the driver is there, a device is not
  failed,     ///< cuInit failed in another way
};

/// A driver, or the reason why there is none.
struct DriverLibrary {
  DriverApi api;  ///< every call, or none at all
  DriverAbsence absence = DriverAbsence::none;
  CUresult result = CUDA_SUCCESS;  ///< what cuInit returned, where it came so far
  /// The CUDA version of the driver as cuDriverGetVersion says it: 12040 for 12.4; 0 if not known.
  int version = 0;
  std::string explanation;  ///< what is missing and what helps; empty with a driver

  explicit operator bool() const noexcept { return absence == DriverAbsence::none; }
};

/// Opens the driver's library, resolves each call in the version of its row, none newer than the driver is, and starts
/// CUDA (cuInit). Needs no driver to be there: all that can be missing is told in the result.
///
/// `name`: as dlopen takes it, a path or what the loader searches; the library stays open for ever. Thread-safe. Costs what
/// cuInit costs, some 100 ms for the first in a process; keep the result.
DriverLibrary load_driver(char const* name = "libcuda.so.1");

}  // namespace tracing::inline v1::cuda
