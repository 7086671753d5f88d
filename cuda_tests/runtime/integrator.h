// Declares integrate(), which says what to compile for a kernel.
#pragma once

#include <string>
#include <vector>

#include "cuda_tests/runtime/kernel.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/model/describe.h"

namespace cuda_tests {

/// The settings that a kernel is compiled with. The block and the mode do not change the source of these kernels.
/// CubeCL, unlike this runtime, generates the source from them.
struct KernelSettings {
  CubeDim cube_dim;
  ExecutionMode mode = ExecutionMode::Checked;
  std::string arch;
  std::vector<std::string> include_folders;
};
TRACE_FIELDS(KernelSettings, cube_dim, mode)

tracing::cuda::CompileRequest integrate(Kernel const& kernel, KernelSettings const& settings);

}  // namespace cuda_tests
