// Entry points of the driver.
#include <cuda.h>

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
    CUdriverProcAddressQueryResult result{};
    cuGetProcAddress(symbol, function, static_cast<int>(version),
                     per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT, &result);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPoint(char const* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
