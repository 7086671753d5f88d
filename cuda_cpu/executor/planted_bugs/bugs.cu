// Kernels with one bug each, and the same kernels without it, for planted_bugs_test.cc. tools/renew_ptx.sh compiles them.
constexpr int kThreads = 64;

__device__ void put(int* values, int i) { values[i] = i; }

template <bool kBug>
__global__ void one_past_the_end(int* values, int count) {
  for (int i = threadIdx.x; kBug ? i <= count : i < count; i += blockDim.x) put(values, i);
}

// Lacks a barrier between the maxima and their use.
template <bool kBug>
__device__ float greatest_of(float const* row, int columns, float* scratch) {
  float greatest = -1e30f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) greatest = fmaxf(greatest, row[i]);
  scratch[threadIdx.x] = greatest;
  if (!kBug) __syncthreads();
  for (int i = 0; i < kThreads; ++i) greatest = fmaxf(greatest, scratch[i]);
  return greatest;
}

template <bool kBug>
__global__ void softmax(float const* row, float* result, int columns) {
  __shared__ float maxima[kThreads];
  __shared__ float sums[kThreads];
  float const greatest = greatest_of<kBug>(row, columns, maxima);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - greatest);
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += sums[i];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) result[i] = expf(row[i] - greatest) / sum;
}

// The last thread does not write its part.
template <bool kBug>
__global__ void uninitialized_shared(int* result) {
  __shared__ int parts[kThreads];
  if (!kBug || threadIdx.x != kThreads - 1) parts[threadIdx.x] = threadIdx.x;
  __syncthreads();
  result[threadIdx.x] = parts[kThreads - 1 - threadIdx.x];
}

// Adds to memory that nobody has set to zero.
__global__ void uninitialized_global(int* result) { atomicAdd(result, 1); }

// The two warps wait at different barriers.
template <bool kBug>
__global__ void divergent_barrier(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  if (!kBug) {
    __syncthreads();
    values[threadIdx.x] = shared[threadIdx.x ^ 32];
  } else if (threadIdx.x < 32) {
    __syncthreads();
    values[threadIdx.x] = shared[threadIdx.x + 32];
  } else {
    shared[threadIdx.x] *= 2;
    __syncthreads();
  }
}

// Nobody sets the flag; the second warp waits for the first at a barrier.
template <bool kBug>
__global__ void endless_loop(int volatile* flag) {
  if (!kBug && threadIdx.x == 33) *flag = 1;
  if (threadIdx.x < 32)
    while (*flag == 0) {}
  __syncthreads();
}

// Lane 16 takes no part.
template <bool kBug>
__global__ void stale_lane(int* values) {
  if (threadIdx.x < 16) values[threadIdx.x] = __shfl_sync(0xffff, values[threadIdx.x], kBug ? 16 : 15);
}

// Blocks count without an atomic operation.
template <bool kBug>
__global__ void histogram(int const* values, int* counts) {
  int* const count = counts + values[blockIdx.x * blockDim.x + threadIdx.x];
  if (kBug) ++*count;
  else atomicAdd(count, 1);
}

// Differences from the first value of a tile. The tile of a block reaches into that of the next one.
template <bool kBug>
__global__ void overlapping_tiles(int const* values, int* result) {
  int const first = blockIdx.x * kThreads;
  for (int i = threadIdx.x; i < kThreads + kBug; i += blockDim.x) result[first + i] = values[first + i] - values[first];
}

// Lacks a barrier between the reads of neighbours and the writes.
template <bool kBug>
__global__ void stencil_in_place(int* values) {
  int const i = threadIdx.x;
  int const sum = values[i] + (i > 0 ? values[i - 1] : 0);
  if (!kBug) __syncthreads();
  values[i] = sum;
}

template __global__ void one_past_the_end<true>(int*, int);
template __global__ void one_past_the_end<false>(int*, int);
template __global__ void softmax<true>(float const*, float*, int);
template __global__ void softmax<false>(float const*, float*, int);
template __global__ void uninitialized_shared<true>(int*);
template __global__ void uninitialized_shared<false>(int*);
template __global__ void divergent_barrier<true>(int*);
template __global__ void divergent_barrier<false>(int*);
template __global__ void endless_loop<true>(int volatile*);
template __global__ void endless_loop<false>(int volatile*);
template __global__ void stale_lane<true>(int*);
template __global__ void stale_lane<false>(int*);
template __global__ void histogram<true>(int const*, int*);
template __global__ void histogram<false>(int const*, int*);
template __global__ void overlapping_tiles<true>(int const*, int*);
template __global__ void overlapping_tiles<false>(int const*, int*);
template __global__ void stencil_in_place<true>(int*);
template __global__ void stencil_in_place<false>(int*);
