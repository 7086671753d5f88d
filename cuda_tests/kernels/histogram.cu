// Counts bytes with 256 counters in shared memory for each block, which are added to the result at the end.
extern "C" __global__ void histogram(unsigned char const* values, unsigned* counts, int count) {
  __shared__ unsigned of_block[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) of_block[i] = 0;
  __syncthreads();
  int const step = static_cast<int>(blockDim.x * gridDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += step)
    atomicAdd(&of_block[values[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    if (of_block[i] != 0) atomicAdd(&counts[i], of_block[i]);
}
