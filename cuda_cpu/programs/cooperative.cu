// Cooperative launches: the blocks of a grid wait for each other.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 64;

// In each round each thread takes the number of the next one, plus one.
__global__ void rounds(int* data, int count) {
  auto const grid = cg::this_grid();
  auto const me = static_cast<unsigned>(grid.thread_rank());
  for (int i = 0; i < count; ++i) {
    int const next = data[(me + 1) % grid.size()];
    grid.sync();
    data[me] = next + 1;
    grid.sync();
  }
}

}  // namespace

int main() {
  int is_supported = 0, multiprocessors = 0, blocks = 0;
  CUDA(cudaDeviceGetAttribute(&is_supported, cudaDevAttrCooperativeLaunch, 0));
  CHECK(is_supported != 0);
  CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, kThreads, 0));
  blocks *= multiprocessors;

  int const count = blocks * kThreads;
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = i * 13 % 101;
  int* data = nullptr;
  CUDA(cudaMalloc(&data, count * sizeof(int)));
  CUDA(cudaMemcpy(data, numbers.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  int times = 3;
  void* arguments[] = {&data, &times};
  CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(rounds), dim3(blocks), dim3(kThreads), arguments, 0, nullptr));

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(kThreads);
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&configuration, rounds, data, 2));
  std::vector<int> results(count);
  CUDA(cudaMemcpy(results.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(results.data(), count, [&](int i) { return numbers[(i + 5) % count] + 5; });

  CUDA_FAILS(cudaErrorCooperativeLaunchTooLarge,
             cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(rounds), dim3(blocks + 1), dim3(kThreads), arguments, 0,
                                         nullptr));
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaFree(data));
}
