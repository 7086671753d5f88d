// See linked_first.cu.
#include <cstdio>

__device__ int offset = 5;
static __device__ int bias = 4;

template <class T>
__device__ __noinline__ T add(T a, T b) {
  return a + b;
}

__device__ int twice(int value) { return 2 * add(value, bias); }

extern "C" __global__ void second(int* p) {
  *p = add(*p, bias);
  printf("second: %d\n", *p);
}
