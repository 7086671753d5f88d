// The driver's calls as the stand-in makes them: those that give work to a stream can be captured into a graph, and
// those that do not fit a capture fail during one.
#pragma once

#include "tracing_core/cuda/driver_api.h"

namespace cuda_cpu::runtime {

/// `api`, a table of the CPU backend, with captures. At most one table in the process.
tracing::cuda::DriverApi with_captures(tracing::cuda::DriverApi const& api);

}  // namespace cuda_cpu::runtime
