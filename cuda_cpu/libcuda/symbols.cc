#include "cuda_cpu/libcuda/symbols.h"

#include <cuda.h>
#include <cudaProfiler.h>

#include <string>

#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::libcuda {

void* find_symbol(std::string_view name) noexcept {
  // The name of a function is that of its newest version, which cuda.h replaces it by.
#define CUDA_CPU_SYMBOL(function) \
  if (name == #function) return reinterpret_cast<void*>(&function);
#include "cuda_cpu/libcuda/symbols.inc"
#undef CUDA_CPU_SYMBOL
  return nullptr;
}

// For refused.cc.
int refuse(char const* name, char const* reason) noexcept;
int refuse(char const* name, char const* reason) noexcept {
  try {
    std::string const call = std::string(name) + "()";
    runtime::driver().check(CUDA_ERROR_NOT_SUPPORTED, call);
    runtime::explain(call + " is not supported" + (*reason == '\0' ? "" : std::string(": ") + reason));
  } catch (...) {  // out of memory
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cuda_cpu::libcuda
