// The driver's calls with captures: calls that give work to a stream can be captured into a graph, and calls that do
// not fit a capture fail during one.
#pragma once

#include "tracing_core/cuda/driver_api.h"

namespace cuda_cpu::graph {

/// Returns `api`, a table of the CPU backend, with captures. A process has at most one such table.
tracing::cuda::DriverApi with_captures(tracing::cuda::DriverApi const& api);

}  // namespace cuda_cpu::graph
