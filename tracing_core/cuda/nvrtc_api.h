// NvrtcApi: the calls of NVRTC as a table of function pointers, filled from the library by load_nvrtc(), or by hand.
// Nothing here needs NVRTC in order to link or to start.
#pragma once

#include <nvrtc.h>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace cuda {

// X(member, symbol)
#define TRACING_CUDA_NVRTC_CALLS(X)                     \
  X(version, nvrtcVersion)                              \
  X(get_error_string, nvrtcGetErrorString)              \
  X(get_num_supported_archs, nvrtcGetNumSupportedArchs) \
  X(get_supported_archs, nvrtcGetSupportedArchs)        \
  X(create_program, nvrtcCreateProgram)                 \
  X(destroy_program, nvrtcDestroyProgram)               \
  X(add_name_expression, nvrtcAddNameExpression)        \
  X(compile_program, nvrtcCompileProgram)               \
  X(get_program_log_size, nvrtcGetProgramLogSize)       \
  X(get_program_log, nvrtcGetProgramLog)                \
  X(get_ptx_size, nvrtcGetPTXSize)                      \
  X(get_ptx, nvrtcGetPTX)                               \
  X(get_cubin_size, nvrtcGetCUBINSize)                  \
  X(get_cubin, nvrtcGetCUBIN)                           \
  X(get_lowered_name, nvrtcGetLoweredName)

/// NVRTC's calls, each as documented in nvrtc.h. A plain value: copy it, replace single calls, or fill it by hand.
/// compile() and CompileCache need all of them.
struct NvrtcApi {
#define TRACING_CUDA_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_MEMBER)
#undef TRACING_CUDA_MEMBER
};

}}}  // namespace tracing::v1::cuda
