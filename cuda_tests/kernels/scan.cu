// Inclusive prefix sums of unsigned values in one pass: a block scans its part, then waits for the sum of the blocks
// before it. `states` holds a state and a sum for each block and must be zero at the start. Blocks must start in order.
namespace {
constexpr unsigned kDone = 1;
}

extern "C" __global__ void scan(unsigned const* values, unsigned* sums, unsigned long long* states, int count) {
  extern __shared__ unsigned part[];
  __shared__ unsigned before;
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  part[threadIdx.x] = i < count ? values[i] : 0;
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned const left = threadIdx.x >= distance ? part[threadIdx.x - distance] : 0;
    __syncthreads();
    part[threadIdx.x] += left;
    __syncthreads();
  }
  if (threadIdx.x == blockDim.x - 1) {
    unsigned sum = 0;
    if (blockIdx.x > 0) {
      unsigned long long state;
      do state = atomicAdd(&states[blockIdx.x - 1], 0ull);
      while (static_cast<unsigned>(state >> 32) != kDone);
      sum = static_cast<unsigned>(state);
    }
    before = sum;
    __threadfence();
    atomicExch(&states[blockIdx.x], (static_cast<unsigned long long>(kDone) << 32) | (sum + part[threadIdx.x]));
  }
  __syncthreads();
  if (i < count) sums[i] = before + part[threadIdx.x];
}
