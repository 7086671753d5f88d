// Memory that is allocated and freed in the order of a stream, and pools.
#include <cstdint>
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 4096;

__global__ void iota(int* to, int first) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = first + i;
}

// Each allocation is used and freed before the host waits once.
void in_order_of_a_stream() {
  cudaStream_t stream = nullptr;
  CUDA(cudaStreamCreate(&stream));
  std::vector<int> results(3 * kCount);
  for (int round = 0; round < 3; ++round) {
    int* memory = nullptr;
    CUDA(cudaMallocAsync(&memory, kCount * sizeof(int), stream));
    iota<<<kCount / 256, 256, 0, stream>>>(memory, round * kCount);
    CUDA(cudaMemcpyAsync(&results[round * kCount], memory, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(memory, stream));
  }
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EACH(results.data(), 3 * kCount, [](int i) { return i; });
  CUDA(cudaStreamDestroy(stream));
}

void from_a_pool() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  CUDA(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t threshold = UINT64_MAX;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(threshold == UINT64_MAX);

  int* memory = nullptr;
  CUDA(cudaMallocFromPoolAsync(&memory, kCount * sizeof(int), pool, nullptr));
  iota<<<kCount / 256, 256>>>(memory, 7);
  std::uint64_t used = 0;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == kCount * sizeof(int));
  std::vector<int> host(kCount);
  CUDA(cudaMemcpy(host.data(), memory, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(host.data(), kCount, [](int i) { return 7 + i; });
  CUDA(cudaFreeAsync(memory, nullptr));
  CUDA(cudaStreamSynchronize(nullptr));
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == 0);
  CUDA(cudaMemPoolTrimTo(pool, 0));
  CUDA(cudaMemPoolDestroy(pool));
}

// What is allocated elsewhere is not the pool's.
void a_pool_of_limited_size() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = std::size_t{64} << 20;
  cudaMemPool_t pool = nullptr;
  CUDA(cudaMemPoolCreate(&pool, &properties));
  void* elsewhere = nullptr;
  void* half = nullptr;
  void* more = nullptr;
  CUDA(cudaMallocAsync(&elsewhere, std::size_t{64} << 20, nullptr));
  CUDA(cudaMallocFromPoolAsync(&half, std::size_t{32} << 20, pool, nullptr));
  CUDA_FAILS(cudaErrorMemoryAllocation, cudaMallocFromPoolAsync(&more, std::size_t{48} << 20, pool, nullptr));
  CUDA(cudaFreeAsync(half, nullptr));
  CUDA(cudaStreamSynchronize(nullptr));
  CUDA(cudaMallocFromPoolAsync(&more, std::size_t{48} << 20, pool, nullptr));
  std::uint64_t high = 0;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(high == std::uint64_t{48} << 20);
  CUDA(cudaFreeAsync(more, nullptr));
  CUDA(cudaFreeAsync(elsewhere, nullptr));
  CUDA(cudaStreamSynchronize(nullptr));
  high = 0;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(high == 0);
  CUDA(cudaMemPoolDestroy(pool));
}

void the_default_pool() {
  cudaMemPool_t pool = nullptr;
  cudaMemPool_t current = nullptr;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA(cudaDeviceGetMemPool(&current, 0));
  CHECK(pool != nullptr && pool == current);
}

}  // namespace

int main() {
  in_order_of_a_stream();
  from_a_pool();
  a_pool_of_limited_size();
  the_default_pool();
}
