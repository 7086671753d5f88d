// Entry points of the driver: the calls of the CPU backend by their names in cuda.h.
#include <string_view>

#include "cuda_cpu/cpu/device.h"  // the calls
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

void* find(std::string_view symbol) noexcept {
#define CUDA_CPU_ENTRY(member, name, version) \
  if (symbol == #name) return reinterpret_cast<void*>(&cuda_cpu::cpu::member);
  TRACING_CUDA_DRIVER_CALLS(CUDA_CPU_ENTRY)
#undef CUDA_CPU_ENTRY
  return nullptr;
}

}  // namespace

extern "C" {

// Each call has one signature here, that of the newest version.
cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return call([&]() -> cudaError_t {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = find(symbol);
    if (status != nullptr) *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPoint(char const* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
