// Kernels with asynchronous copies and barriers of the toolkit's libraries. tools/renew_ptx.sh compiles them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// Reverses each of `rounds` rows of as many numbers as the block has threads.
extern "C" __global__ void barrier_rounds(int const* in, int* out, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  extern __shared__ int row[];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    cuda::memcpy_async(cg::this_thread_block(), row, in + i * blockDim.x, sizeof(int) * blockDim.x, barrier);
    barrier.arrive_and_wait();
    out[i * blockDim.x + threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  }
}

// The same for two rows of 32 numbers of 16 bytes, of which the second loses its upper half.
extern "C" __global__ void primitives(int4 const* in, int4* out) {
  __shared__ int4 rows[64];
  __pipeline_memcpy_async(&rows[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&rows[threadIdx.x + 32], &in[threadIdx.x + 32], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = rows[31 - threadIdx.x];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[32 + threadIdx.x] = rows[63 - threadIdx.x];
}

// Doubles and reverses `rows` rows of 128 numbers, in two stages.
extern "C" __global__ void pipeline_stages(float const* in, float* out, int rows) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float buffers[2][128];
  auto const block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  auto const copy = [&](int row) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, buffers[row % 2], in + 128 * row, sizeof(float) * 128, pipeline);
    pipeline.producer_commit();
  };
  copy(0);
  for (int row = 0; row < rows; ++row) {
    if (row + 1 < rows) copy(row + 1);
    pipeline.consumer_wait();
    out[row * 128 + threadIdx.x] = buffers[row % 2][127 - threadIdx.x] * 2;
    block.sync();  // the next copy is to the buffer that was read
    pipeline.consumer_release();
  }
}

extern "C" __global__ void group_copy(float const* in, float* out) {
  __shared__ float row[128];
  auto const block = cg::this_thread_block();
  cg::memcpy_async(block, row, in, sizeof(row));
  cg::wait(block);
  out[threadIdx.x] = row[127 - threadIdx.x];
}

// In each round each thread of the grid takes the number of the next one, plus one.
extern "C" __global__ void grid_rounds(int* data, int rounds) {
  auto const grid = cg::this_grid();
  auto const me = grid.thread_rank();
  for (int i = 0; i < rounds; ++i) {
    int const next = data[(me + 1) % grid.size()];
    grid.sync();
    data[me] = next + 1;
    grid.sync();
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void cluster(int* out) {
  __shared__ int row[64];
  auto const cluster = cg::this_cluster();
  row[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int const* const other = cluster.map_shared_rank(row, 0);
  out[threadIdx.x] = other[63 - threadIdx.x] + 1000 * cluster.num_blocks() + 100 * cluster.block_rank();
  cluster.sync();
}

// Copies 256 numbers in bulk and reverses them.
extern "C" __global__ void bulk_copy(int const* in, int* out) {
  __shared__ alignas(16) int row[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(row, in, sizeof(row), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(row));
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  out[threadIdx.x] = row[255 - threadIdx.x];
}
#endif
