// Entry points of the driver.
#include "cuda_cpu/libcuda/symbols.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

// Each function has one signature here, that of the newest version.
cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return call([&]() -> cudaError_t {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = cuda_cpu::libcuda::find_symbol(symbol);
    if (status != nullptr) *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPoint(char const* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
