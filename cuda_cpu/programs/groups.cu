// Cooperative groups: blocks, tiles, coalesced threads, and what they compute together.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 3;

template <class Group>
__device__ int sum_of(Group const& group, int value) {
  for (int distance = group.size() / 2; distance > 0; distance /= 2) value += group.shfl_down(value, distance);
  return value;
}

__global__ void sum_by_tiles(int const* values, int* sums) {
  cg::thread_block const block = cg::this_thread_block();
  __shared__ int of_warps[kThreads / 32];
  auto const warp = cg::tiled_partition<32>(block);
  int const sum = sum_of(warp, values[cg::this_grid().thread_rank()]);
  if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() != 0) return;
  sums[block.group_index().x] = 0;
  for (unsigned i = 0; i < warp.meta_group_size(); ++i) sums[block.group_index().x] += of_warps[i];
}

__global__ void of_eight(int* sums, int* scans, unsigned* votes) {
  auto const block = cg::this_thread_block();
  auto const tile = cg::tiled_partition<8>(block);
  int const rank = static_cast<int>(block.thread_rank());
  int const sum = cg::reduce(tile, rank, cg::plus<int>());
  scans[rank] = cg::inclusive_scan(tile, rank);
  unsigned const vote = tile.ballot(rank % 3 == 0);
  if (tile.thread_rank() == 0) {
    sums[tile.meta_group_rank()] = sum;
    votes[tile.meta_group_rank()] = vote;
  }
}

// Each warp makes room for its even numbers with one atomic operation.
__global__ void filter_even(int const* values, int count, int* kept, int* kept_count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || values[i] % 2 != 0) return;
  auto const active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(kept_count, static_cast<int>(active.size()));
  kept[active.shfl(first, 0) + active.thread_rank()] = values[i];
}

}  // namespace

int main() {
  constexpr int kCount = kThreads * kBlocks;
  int* values = nullptr;
  int* results = nullptr;
  int* scans = nullptr;
  unsigned* votes = nullptr;
  CUDA(cudaMallocManaged(&values, kCount * sizeof(int)));
  CUDA(cudaMallocManaged(&results, kCount * sizeof(int)));
  CUDA(cudaMallocManaged(&scans, kThreads * sizeof(int)));
  CUDA(cudaMallocManaged(&votes, kThreads * sizeof(unsigned)));
  for (int i = 0; i < kCount; ++i) values[i] = i * 7 % 31;

  sum_by_tiles<<<kBlocks, kThreads>>>(values, results);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  CHECK_EACH(results, kBlocks, [&](int block) {
    int sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += values[block * kThreads + i];
    return sum;
  });

  of_eight<<<1, kThreads>>>(results, scans, votes);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  CHECK_EACH(results, kThreads / 8, [](int tile) { return 64 * tile + 28; });
  CHECK_EACH(scans, kThreads, [](int i) {
    int sum = 0;
    for (int j = i / 8 * 8; j <= i; ++j) sum += j;
    return sum;
  });
  CHECK_EACH(votes, kThreads / 8, [](int tile) {
    unsigned bits = 0;
    for (int i = 0; i < 8; ++i) bits |= ((8 * tile + i) % 3 == 0 ? 1u : 0u) << i;
    return bits;
  });

  int* const kept_count = scans;
  *kept_count = 0;
  filter_even<<<kBlocks, kThreads>>>(values, kCount, results, kept_count);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  std::vector<int> counts(31);
  int even = 0;
  for (int i = 0; i < kCount; ++i) {
    if (values[i] % 2 != 0) continue;
    ++counts[values[i]];
    ++even;
  }
  CHECK(*kept_count == even);
  for (int i = 0; i < even; ++i) --counts[results[i]];
  CHECK_EACH(counts.data(), 31, [](int) { return 0; });
  for (void* const memory :
       {static_cast<void*>(values), static_cast<void*>(results), static_cast<void*>(scans), static_cast<void*>(votes)})
    CUDA(cudaFree(memory));
}
