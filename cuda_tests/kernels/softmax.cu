// Softmax of each row, one block for each row. Subtracts the maximum, so that no exponential overflows.
extern "C" __global__ void softmax(float const* input, float* output, int columns) {
  __shared__ float scratch[1024];
  float const* row = input + static_cast<long long>(blockIdx.x) * columns;
  float* result = output + static_cast<long long>(blockIdx.x) * columns;

  float greatest = -__int_as_float(0x7f800000);
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    greatest = fmaxf(greatest, row[i]);
  scratch[threadIdx.x] = greatest;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  greatest = scratch[0];
  __syncthreads();

  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    sum += expf(row[i] - greatest);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  sum = scratch[0];

  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    result[i] = expf(row[i] - greatest) / sum;
}
