// Compiled with --default-stream per-thread: the default stream of a thread does not wait for that of another one.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

namespace {

__global__ void set(int* to, int value) { *to = value; }

std::atomic<bool> is_open{false};
std::atomic<bool> timed_out{false};

void CUDART_CB wait_until_open(void*) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_open && !timed_out) {
    if (std::chrono::steady_clock::now() > until) timed_out = true;
    std::this_thread::yield();
  }
}

}  // namespace

int main() {
  int* values = nullptr;
  CUDA(cudaMallocHost(&values, 3 * sizeof(int)));
  set<<<1, 1>>>(values, 1);
  CUDA(cudaStreamSynchronize(nullptr));
  CUDA(cudaLaunchHostFunc(nullptr, wait_until_open, nullptr));
  set<<<1, 1>>>(values, 2);

  std::thread([&] {
    set<<<1, 1>>>(values + 1, 3);
    CUDA(cudaStreamSynchronize(nullptr));
    int* device = nullptr;
    CUDA(cudaMallocAsync(&device, sizeof(int), nullptr));
    CUDA(cudaMemset(device, 0, sizeof(int)));
    set<<<1, 1>>>(device, 4);
    CUDA(cudaMemcpy(values + 2, device, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaFreeAsync(device, nullptr));
    CHECK(cudaStreamQuery(cudaStreamPerThread) == cudaSuccess || cudaGetLastError() == cudaErrorNotReady);
  }).join();
  CHECK(values[0] == 1 && values[1] == 3 && values[2] == 4);

  is_open = true;
  CUDA(cudaStreamSynchronize(nullptr));
  CHECK(values[0] == 2 && !timed_out);
  CUDA(cudaFreeHost(values));
}
