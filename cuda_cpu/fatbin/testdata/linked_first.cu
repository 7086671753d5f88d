// One of two translation units that need each other (-rdc=true); both have names that are internal or weak.
#include <cstdio>

extern __device__ int offset;
__device__ int twice(int value);
static __device__ int bias = 3;

template <class T>
__device__ __noinline__ T add(T a, T b) {
  return a + b;
}

extern "C" __global__ void first(int* p) {
  *p = twice(add(*p, bias)) + offset;
  printf("first: %d\n", *p);
}
