// Sums `count` values to one partial sum for each block.
extern "C" __global__ void block_sum(float const* values, float* sums, int count) {
  __shared__ float of_warp[32];
  int const step = static_cast<int>(blockDim.x * gridDim.x);
  float sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += step) sum += values[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}
