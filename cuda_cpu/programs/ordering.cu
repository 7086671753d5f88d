// The usual ways in which threads and blocks order their accesses to global memory, none of which is a race.
#include <cuda/atomic>

#include "check.h"

constexpr int kBlocks = 8, kThreads = 64;

// Of the CUDA C++ Programming Guide: a plain read, then compare-and-swap.
__device__ double add(double* address, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits;
  unsigned long long assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void sum_by_swaps(double* sum) { add(sum, 1.5); }

// The last block sums up what all blocks wrote.
__global__ void sum_in_last_block(int* parts, unsigned* finished, int* sum) {
  __shared__ bool is_last;
  parts[blockIdx.x * kThreads + threadIdx.x] = static_cast<int>(blockIdx.x + threadIdx.x);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  int mine = 0;
  for (int i = 0; i < kBlocks; ++i) mine += parts[i * kThreads + threadIdx.x];
  atomicAdd(sum, mine);
  if (threadIdx.x == 0) *finished = 0;
}

__global__ void count_under_lock(int* lock, int* count) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  ++*count;
  __threadfence();
  atomicExch(lock, 0);
}

using Flag = cuda::atomic<int, cuda::thread_scope_device>;

// The first block hands a value to the second one.
__global__ void hand_over(Flag* flag, int* value, int* copies) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    *value = 42;
    flag->store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (flag->load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();
    copies[threadIdx.x] = *value;
  }
}

// Each lane writes to where its neighbour has read, since the value that it writes comes from there.
__global__ void double_neighbours(int* values) {
  int* const of_warp = values + blockIdx.x * kThreads + threadIdx.x / 32 * 32;
  int const lane = static_cast<int>(threadIdx.x % 32);
  int const value = __shfl_sync(~0u, of_warp[lane], lane ^ 1);
  of_warp[lane ^ 1] = 2 * value;
}

__global__ void use_queue(int* next, int* done, int count) {
  __shared__ int at;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) at = atomicAdd(next, 1);
    __syncthreads();
    if (at >= count) return;
    done[at * kThreads + threadIdx.x] += at;
  }
}

// All that write, write the same.
__global__ void find(int const* values, bool* found) {
  if (values[blockIdx.x * kThreads + threadIdx.x] == 14) *found = true;
}

int main() {
  struct Results {
    double sum_by_swaps;
    int parts[kBlocks * kThreads];
    unsigned finished;
    int sum, lock, count, flag, value, copies[kThreads], doubled[kBlocks * kThreads], next, done[20 * kThreads];
    bool found;
  };
  Results* all = nullptr;
  CUDA(cudaMallocManaged(&all, sizeof(Results)));
  *all = {};
  for (int i = 0; i < kBlocks * kThreads; ++i) all->doubled[i] = i % 32;

  sum_by_swaps<<<kBlocks, kThreads>>>(&all->sum_by_swaps);
  sum_in_last_block<<<kBlocks, kThreads>>>(all->parts, &all->finished, &all->sum);
  count_under_lock<<<kBlocks, kThreads>>>(&all->lock, &all->count);
  hand_over<<<2, kThreads>>>(reinterpret_cast<Flag*>(&all->flag), &all->value, all->copies);
  double_neighbours<<<kBlocks, kThreads>>>(all->doubled);
  use_queue<<<kBlocks, kThreads>>>(&all->next, all->done, 20);
  find<<<kBlocks, kThreads>>>(all->doubled, &all->found);
  CUDA(cudaDeviceSynchronize());

  CHECK(all->sum_by_swaps == 1.5 * kBlocks * kThreads);
  int sum = 0;
  for (int i = 0; i < kBlocks; ++i)
    for (int j = 0; j < kThreads; ++j) sum += i + j;
  CHECK(all->sum == sum && all->finished == 0);
  CHECK(all->count == kBlocks * kThreads / 32);
  CHECK(all->copies[0] == 42 && all->copies[kThreads - 1] == 42);
  CHECK_EACH(all->doubled, kBlocks * kThreads, [](int i) { return 2 * (i % 32); });
  CHECK(all->done[0] == 0 && all->done[20 * kThreads - 1] == 19);
  CHECK(all->found);
  CUDA(cudaFree(all));
}
