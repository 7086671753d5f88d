// Error handling.
#include <fmt/format.h>

#include <string_view>

#include "cuda_cpu/process/unnoticed.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/cuda/errors.h"

namespace cuda_cpu::runtime {

// Called by refused.cc, which declares it, too.
int refuse_call(char const* name, char const* reason) noexcept;
int refuse_call(char const* name, char const* reason) noexcept {
  return call([&] {
    std::string_view const why = reason;
    return refuse(cudaErrorNotSupported, fmt::format("{}() is not supported{}{}", name, why.empty() ? "" : ": ", why));
  });
}

}  // namespace cuda_cpu::runtime

extern "C" {

cudaError_t cudaGetLastError() {
  auto& thread = cuda_cpu::runtime::this_thread();
  cudaError_t const error = thread.last_error;
  cuda_cpu::runtime::note_asked();
  cuda_cpu::runtime::forget_refusal(error);
  // An error that lost the context stays: every later call returns it.
  if (tracing::cuda::lost_with(static_cast<CUresult>(error)) == tracing::cuda::Lost::nothing)
    thread.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  cuda_cpu::runtime::note_asked();
  return cuda_cpu::runtime::this_thread().last_error;
}

char const* cudaGetErrorName(cudaError_t error) { return cuda_cpu::runtime::error_name(error); }

char const* cudaGetErrorString(cudaError_t error) { return cuda_cpu::graph::error_string(error); }

}  // extern "C"
