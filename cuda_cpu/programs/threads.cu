// Many threads of the host use the device at once, each with a stream of its own.
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;
constexpr int kCount = 1000;

__device__ unsigned long long launches;

__global__ void advance(int* values, int count, int step) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += step * (i + 1);
  if (i == 0) atomicAdd(&launches, 1ull);
}

void work(int number) {
  CUDA(cudaSetDevice(0));
  cudaStream_t stream = nullptr;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<int> host(kCount);
  for (int round = 0; round < kRounds; ++round) {
    int* device = nullptr;
    CUDA(cudaMalloc(&device, kCount * sizeof(int)));
    CUDA(cudaMemsetAsync(device, 0, kCount * sizeof(int), stream));
    advance<<<(kCount + 255) / 256, 256, 0, stream>>>(device, kCount, number);
    advance<<<(kCount + 255) / 256, 256, 0, stream>>>(device, kCount, round);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(host.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EACH(host.data(), kCount, [&](int i) { return (number + round) * (i + 1); });
    CUDA(cudaFree(device));
  }
  CUDA(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  unsigned long long count = 0;
  CUDA(cudaMemcpyFromSymbol(&count, launches, sizeof(count)));
  CHECK(count == 2 * kThreads * kRounds);
}
