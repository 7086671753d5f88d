// integrate(): what to compile for a kernel.
#pragma once

#include <string>
#include <vector>

#include "cuda_tests/runtime/kernel.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/model/describe.h"

namespace cuda_tests {

/// What a kernel is compiled for. The block and the mode change nothing in the source of these kernels, unlike in
/// CubeCL, which generates it.
struct KernelSettings {
  CubeDim cube_dim;
  ExecutionMode mode = ExecutionMode::Checked;
  std::string arch;
  std::vector<std::string> include_folders;
};
TRACE_FIELDS(KernelSettings, cube_dim, mode)

tracing::cuda::CompileRequest integrate(Kernel const& kernel, KernelSettings const& settings);

}  // namespace cuda_tests
