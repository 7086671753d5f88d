// Declares NvrtcApi, the calls of NVRTC that we make as a table of function pointers: filled from NVRTC where it is, or by
// hand. Nothing here needs NVRTC to link or to start.
#pragma once

#include <nvrtc.h>

namespace tracing::inline v1::cuda {

// X(member, symbol)
#define TRACING_CUDA_NVRTC_CALLS(X)                       \
  X(version, nvrtcVersion)                                \
  X(get_error_string, nvrtcGetErrorString)                \
  X(get_num_supported_archs, nvrtcGetNumSupportedArchs)   \
  X(get_supported_archs, nvrtcGetSupportedArchs)          \
  X(create_program, nvrtcCreateProgram)                   \
  X(destroy_program, nvrtcDestroyProgram)                 \
  X(add_name_expression, nvrtcAddNameExpression)          \
  X(compile_program, nvrtcCompileProgram)                 \
  X(get_program_log_size, nvrtcGetProgramLogSize)         \
  X(get_program_log, nvrtcGetProgramLog)                  \
  X(get_ptx_size, nvrtcGetPTXSize)                        \
  X(get_ptx, nvrtcGetPTX)                                 \
  X(get_cubin_size, nvrtcGetCUBINSize)                    \
  X(get_cubin, nvrtcGetCUBIN)                             \
  X(get_lowered_name, nvrtcGetLoweredName)

/// NVRTC's calls, each as nvrtc.h documents it. A plain value: copy it, replace single calls, fill it by hand. Those who take
/// one call what is there without looking: all of it has to be there.
struct NvrtcApi {
#define TRACING_CUDA_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_MEMBER)
#undef TRACING_CUDA_MEMBER
};

}  // namespace tracing::inline v1::cuda
