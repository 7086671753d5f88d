// Kernels that fail on purpose, one that prints, one that waits, and one that does nothing.
extern "C" __device__ int printf(char const*, ...);

extern "C" __global__ void empty() {}

extern "C" __global__ void out_of_bounds(int* values, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  values[i < count ? i : count + 1024 * 1024 * 64] = i;
}

extern "C" __global__ void trap_if(int const* values, int forbidden) {
  if (values[threadIdx.x] == forbidden) asm volatile("trap;");
}

extern "C" __global__ void misaligned(char* bytes) { *reinterpret_cast<int*>(bytes + 1) = 1; }

extern "C" __global__ void say(int value, double ratio) {
  if (threadIdx.x == 0) printf("block %d says %d and %.2f\n", static_cast<int>(blockIdx.x), value, ratio);
}

// Ends when `*flag` is not zero.
extern "C" __global__ void wait_for(unsigned volatile* flag) {
  while (*flag == 0) {}
}
