// Entry points of the driver.
#include "cuda_cpu/libcuda/symbols.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return call([&]() -> cudaError_t {
    if (symbol == nullptr || function == nullptr || flags > cudaEnablePerThreadDefaultStream)
      return cudaErrorInvalidValue;
    bool const per_thread =
        flags == cudaEnablePerThreadDefaultStream || (flags == cudaEnableDefault && this_thread().per_thread_streams);
    auto const result = cuda_cpu::libcuda::find_symbol(symbol, static_cast<int>(version), per_thread, function);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPoint(char const* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
