#include "cuda_tests/cpu/cpu_driver.h"

#include "cuda_tests/cpu/calls.h"

namespace cuda_tests {

tracing::cuda::DriverApi cpu_driver_api() noexcept {
  tracing::cuda::DriverApi api;
#define CUDA_TESTS_FILL(member, symbol, version) api.member = cpu::member;
  TRACING_CUDA_DRIVER_CALLS(CUDA_TESTS_FILL)
#undef CUDA_TESTS_FILL
  return api;
}

}  // namespace cuda_tests
