// y = a * x + y
extern "C" __global__ void saxpy(float a, float const* x, float* y, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = a * x[i] + y[i];
}
