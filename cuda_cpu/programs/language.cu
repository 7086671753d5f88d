// C++20 in kernels, and what the runtime says about the device and its kernels.
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

consteval int cube(int n) { return n * n * n; }

struct Version {
  int major;
  int minor;
  constexpr auto operator<=>(Version const&) const = default;
};

template <Number T>
__global__ void fill(T* to, int count, T first) {
  if (int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count) {
    auto const apply = []<class Value>(Value value, int times) {
      if constexpr (std::integral<Value>)
        return value + times;
      else
        return value + static_cast<Value>(times) / 4;
    };
    to[i] = apply(first, i) + T{cube(2)};
  }
}

__global__ void compare(Version const* versions, int* order) {
  Version const current{.major = 2, .minor = 5};
  int const i = threadIdx.x;
  order[i] = versions[i] < current ? -1 : versions[i] == current ? 0 : 1;
}

__global__ void __launch_bounds__(256) bounded(int* to) {
  __shared__ int part[512];
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

template <Number T>
void filled(T first) {
  constexpr int kCount = 100;
  T* device = nullptr;
  std::vector<T> host(kCount);
  CUDA(cudaMalloc(&device, kCount * sizeof(T)));
  fill<<<4, 32>>>(device, kCount, first);
  CUDA(cudaMemcpy(host.data(), device, kCount * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK_EACH(host.data(), kCount,
             [&](int i) { return std::integral<T> ? first + i + 8 : first + static_cast<T>(i) / 4 + 8; });
  CUDA(cudaFree(device));
}

void compared() {
  std::array<Version, 4> const versions{{{1, 9}, {2, 4}, {2, 5}, {3, 0}}};
  std::array<int, 4> const expected{-1, -1, 0, 1};
  Version* device = nullptr;
  int* order = nullptr;
  CUDA(cudaMalloc(&device, sizeof(versions)));
  CUDA(cudaMalloc(&order, sizeof(expected)));
  CUDA(cudaMemcpy(device, versions.data(), sizeof(versions), cudaMemcpyHostToDevice));
  compare<<<1, 4>>>(device, order);
  std::array<int, 4> host{};
  CUDA(cudaMemcpy(host.data(), order, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK(host == expected);
  CUDA(cudaFree(device));
  CUDA(cudaFree(order));
}

void device_properties() {
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  CHECK(count >= 1);
  cudaDeviceProp properties{};
  CUDA(cudaGetDeviceProperties(&properties, 0));
  CHECK(std::strlen(properties.name) > 0 && properties.warpSize == 32 && properties.major >= 7);
  CHECK(properties.maxThreadsPerBlock == 1024 && properties.multiProcessorCount > 0 && properties.totalGlobalMem > 0);
  int value = 0;
  CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(value == properties.multiProcessorCount);
  CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  CHECK(static_cast<std::size_t>(value) == properties.sharedMemPerBlock && value >= 48 * 1024);
  int runtime = 0;
  int driver = 0;
  CUDA(cudaRuntimeGetVersion(&runtime));
  CUDA(cudaDriverGetVersion(&driver));
  CHECK(runtime >= 12000 && driver >= runtime);
}

// Waits for all other blocks of the grid.
__global__ void meet(int* arrived) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {}
}

void as_many_blocks_run_together_as_occupancy_says() {
  int blocks = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 32, 0));
  cudaDeviceProp properties{};
  CUDA(cudaGetDeviceProperties(&properties, 0));
  int* arrived = nullptr;
  CUDA(cudaMalloc(&arrived, sizeof(int)));
  CUDA(cudaMemset(arrived, 0, sizeof(int)));
  meet<<<blocks * properties.multiProcessorCount, 32>>>(arrived);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaFree(arrived));
}

void occupancy() {
  cudaFuncAttributes attributes{};
  CUDA(cudaFuncGetAttributes(&attributes, bounded));
  CHECK(attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes >= 512 * sizeof(int) &&
        attributes.numRegs > 0);
  int few = 0;
  int many = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, bounded, 64, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, bounded, 64, 40 * 1024));
  CHECK(many >= 1 && few >= 1 && few <= many);
  int grid = 0;
  int block = 0;
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  CHECK(grid >= 1 && block >= 32 && block <= 256);
  int* device = nullptr;
  CUDA(cudaMalloc(&device, 256 * sizeof(int)));
  bounded<<<1, block>>>(device);
  std::vector<int> host(block);
  CUDA(cudaMemcpy(host.data(), device, block * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(host.data(), block, [&](int i) { return block - 1 - i; });
  CUDA(cudaFree(device));

  // A launch by a configuration, with an attribute.
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 1;
  configuration.blockDim = 32;
  CUDA(cudaMalloc(&device, 32 * sizeof(int)));
  CUDA(cudaLaunchKernelEx(&configuration, bounded, device));
  void* arguments[] = {&device};
  CUDA(cudaLaunchKernel(reinterpret_cast<void const*>(bounded), dim3(1), dim3(32), arguments, 0, nullptr));
  host.resize(32);
  CUDA(cudaMemcpy(host.data(), device, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(host.data(), 32, [](int i) { return 31 - i; });
  CUDA(cudaFree(device));
}

}  // namespace

int main() {
  filled<int>(3);
  filled<unsigned char>(1);
  filled<double>(0.5);
  filled<float>(-2);
  compared();
  device_properties();
  occupancy();
  as_many_blocks_run_together_as_occupancy_says();
}
