// Cooperative groups: tiles of several warps.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 256;

template <unsigned kSize>
__global__ void in_tiles(int* sums, int* reversed, int* votes) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  auto const block = cg::this_thread_block(memory);
  auto const tile = cg::tiled_partition<kSize>(block);
  int const rank = static_cast<int>(block.thread_rank());
  __shared__ int ranks[kThreads];
  for (int i = 0; i < 3; ++i) {
    ranks[rank] = rank + i;
    tile.sync();
    reversed[rank] = ranks[rank ^ (kSize - 1)];
    tile.sync();
  }
  int const sum = cg::reduce(tile, rank, cg::plus<int>());
  votes[rank] = tile.any(rank == 70) + 2 * tile.all(rank < 128) + 4 * tile.shfl(rank, 3);
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
}

template <unsigned kSize>
void check_tiles() {
  int* sums = nullptr;
  int* reversed = nullptr;
  int* votes = nullptr;
  CUDA(cudaMallocManaged(&sums, kThreads * sizeof(int)));
  CUDA(cudaMallocManaged(&reversed, kThreads * sizeof(int)));
  CUDA(cudaMallocManaged(&votes, kThreads * sizeof(int)));
  in_tiles<kSize><<<1, kThreads>>>(sums, reversed, votes);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  constexpr int kCount = kSize;
  CHECK_EACH(sums, kThreads / kCount, [](int tile) {
    int sum = 0;
    for (int i = 0; i < kCount; ++i) sum += tile * kCount + i;
    return sum;
  });
  CHECK_EACH(reversed, kThreads, [](int i) { return (i ^ (kCount - 1)) + 2; });
  CHECK_EACH(votes, kThreads, [](int i) {
    int const first = i / kCount * kCount;
    bool const any = first <= 70 && 70 < first + kCount;
    return any + 2 * (first + kCount <= 128) + 4 * (first + 3);
  });
  CUDA(cudaFree(sums));
  CUDA(cudaFree(reversed));
  CUDA(cudaFree(votes));
}

}  // namespace

int main() {
  check_tiles<64>();
  check_tiles<128>();
  check_tiles<256>();
}
