// Loss: how a CUDA context was lost.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tracing_core/cuda/launch.h"

namespace tracing::inline v1::cuda {

/// How a context was lost: the first call that reported the error, and the launches that may have caused it. A GPU does
/// not report which launch that was. It is known if only one was outstanding, if launches block
/// (CUDA_LAUNCH_BLOCKING=1), or if DriverOptions::failed_launch knows it.
struct Loss {
  CUresult code = CUDA_SUCCESS;
  std::string call;                ///< such as `cuStreamSynchronize(stream 1)`
  std::vector<Launch> candidates;  ///< oldest first; keeps their spans open
  std::uint64_t forgotten = 0;     ///< how many further candidates there are
  bool exact = false;              ///< the only candidate certainly caused the error
  LaunchId launch = 0;             ///< as given by DriverOptions::failed_launch, also if it is not among the candidates
  std::string detail;              ///< what else the driver reported: kernel, line, address

  /// One line: `CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): a kernel read or wrote an invalid address;
  /// caused by launch 3 of out_of_bounds`.
  std::string to_string() const;
};

}  // namespace tracing::inline v1::cuda
