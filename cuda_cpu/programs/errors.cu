// Errors that do not last: what each call returns, and what cudaGetLastError() and cudaPeekAtLastError() keep.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "check.h"

namespace {

int on_host;

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small_blocks() {}
void no_kernel() {}

void errors_are_kept_until_asked_for() {
  CUDA(cudaGetLastError());
  int value = 0;
  CUDA_FAILS(cudaErrorInvalidMemcpyDirection,
             cudaMemcpy(&value, &on_host, sizeof(int), static_cast<cudaMemcpyKind>(17)));
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
  void* memory = nullptr;
  CUDA(cudaMalloc(&memory, 4));  // success does not clear it
  CUDA(cudaFree(memory));
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
  CUDA(cudaGetLastError());
  CUDA(cudaPeekAtLastError());
}

void each_thread_has_its_own() {
  CUDA_FAILS(cudaErrorInvalidDevice, cudaSetDevice(9999));
  std::thread([] {
    CUDA(cudaGetLastError());
    CUDA_FAILS(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
  }).join();
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

void launches_that_are_not_possible() {
  nothing<<<1, 2048>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<0, 32>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, dim3(1, 1, 65)>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<dim3(1, 65536), 1>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, 1, 1 << 20>>>();  // bytes of shared memory
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  small_blocks<<<1, 128>>>();
  CHECK(cudaGetLastError() != cudaSuccess);
  nothing<<<1, 1>>>();  // nothing of this lasts
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
}

void bad_arguments() {
  void* address = nullptr;
  CUDA_FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, on_host));
  cudaFuncAttributes attributes{};
  CUDA_FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, no_kernel));
  int value = 0;
  CUDA_FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9999));
  CUDA_FAILS(cudaErrorInvalidValue, cudaFree(&value));
  void* memory = nullptr;
  CUDA(cudaMalloc(&memory, 64));
  CUDA(cudaFree(memory));
  CUDA_FAILS(cudaErrorInvalidValue, cudaFree(memory));  // twice
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

// A forked child does not have CUDA's threads.
void calls_of_a_forked_child_fail() {
  CUDA(cudaDeviceSynchronize());
  pid_t const child = fork();
  if (child == 0) {
    void* memory = nullptr;
    CUDA_FAILS(cudaErrorInitializationError, cudaMalloc(&memory, 4));
    nothing<<<1, 1>>>();
    CUDA_FAILS(cudaErrorInitializationError, cudaGetLastError());
    CUDA_FAILS(cudaErrorInitializationError, cudaDeviceSynchronize());
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

void names_of_errors() {
  CHECK(std::strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  CHECK(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0);
  CHECK(std::strlen(cudaGetErrorString(cudaErrorMemoryAllocation)) > 0);
}

}  // namespace

int main() {
  errors_are_kept_until_asked_for();
  each_thread_has_its_own();
  launches_that_are_not_possible();
  bad_arguments();
  calls_of_a_forked_child_fail();
  names_of_errors();
}
