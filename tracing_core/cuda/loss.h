// Declares Loss, how a CUDA context was lost.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tracing_core/cuda/launch_log.h"

namespace tracing::inline v1::cuda {

/// How a context was lost: the first call that said so, and the launches that may have done it. A GPU does not say which one
/// it was; where only one was outstanding, where launches wait for their end (CUDA_LAUNCH_BLOCKING=1), and on a driver that
/// can tell, it is known.
struct Loss {
  CUresult code = CUDA_SUCCESS;
  std::string call;                ///< as in `cuStreamSynchronize(stream 1)`
  std::vector<Launch> candidates;  ///< oldest first; their spans are kept open by this
  std::uint64_t forgotten = 0;     ///< how many more there may be
  bool exact = false;              ///< it was the one candidate, beyond doubt
  LaunchId launch = 0;             ///< its number where the driver told it, known here or not
  std::string detail;              ///< what the driver knows of it, where it does: kernel, line, address

  /// One line: `CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): an illegal memory access was encountered; the
  /// launch 3 of out_of_bounds did it`.
  std::string to_string() const;
};

}  // namespace tracing::inline v1::cuda
