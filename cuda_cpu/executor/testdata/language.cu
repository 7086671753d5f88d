// What C++ on a device needs beyond arithmetic: calls by address, recursion, the heap, the stack, managed memory.
// Compiled to PTX by tools/renew_ptx.sh.
#include <alloca.h>
#include <cstdlib>
#include <cstring>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int mixed(int a, int b) { return a + b; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float length) : side(length) {}
  __device__ float area() const override { return side * side; }
};
struct Disk : Shape {
  float radius;
  __device__ explicit Disk(float length) : radius(length) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
  __device__ int mixed(int a, int b) override { return a * b; }
};

// Lanes of a warp call different functions.
extern "C" __global__ void virtual_calls(float* out) {
  int const i = threadIdx.x;
  Shape* shape = nullptr;
  if (i % 2 != 0) shape = new Square(i);
  else shape = new Disk(i);
  out[i] = shape->area() + shape->mixed(i, 3);
  delete shape;
}

using Function = float (*)(float, float);
__device__ float sum(float a, float b) { return a + b; }
__device__ __noinline__ float product(float a, float b) { return a * b; }
__device__ float difference(float a, float b) { return a - b; }
__device__ Function table[3] = {sum, product, difference};
__constant__ Function constants[2] = {product, difference};
__device__ Function pointer = difference;

extern "C" __global__ void tables(float* out, int which) {
  int const i = threadIdx.x;
  out[i] = table[(which + i) % 3](i, 2) + constants[i & 1](i, 3) + pointer(1, i);
}
extern "C" __global__ void get_function(Function* out, int which) { *out = which != 0 ? sum : product; }
extern "C" __global__ void call_function(float* out, Function function) { out[threadIdx.x] = function(threadIdx.x, 2); }

struct Large {
  int values[10];
};
__device__ __noinline__ Large changed(int i, Large large) {
  large.values[i % 10] += i;
  return large;
}
__device__ Large (*large_function)(int, Large) = changed;
extern "C" __global__ void large_arguments(Large* out) {
  Large const given = out[0];
  out[1 + threadIdx.x] = large_function(threadIdx.x, given);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 16); }

// No loop computes it.
__device__ __noinline__ unsigned nested(unsigned n) {
  unsigned const own[4] = {n, n + 1, n + 2, n + 3};
  if (n == 0) return 1;
  unsigned const inner = nested(n - 1);
  return inner * 3 + own[inner & 3];
}
extern "C" __global__ void deep(unsigned* out, unsigned n) { out[threadIdx.x] = nested(n + threadIdx.x % 2); }

extern "C" __global__ void on_heap(int** out, int count) {
  int const i = threadIdx.x;
  int* const values = static_cast<int*>(malloc(count * sizeof(int)));
  out[i] = values;
  if (values == nullptr) return;
  for (int k = 0; k < count; ++k) values[k] = i + k;
}
extern "C" __global__ void from_heap(int** in, int* out, int count) {
  int const i = threadIdx.x;
  int total = 0;
  for (int k = 0; k < count; ++k) total += in[i][k];
  out[i] = total;
  free(in[i]);
}

__device__ __noinline__ int on_stack(int i, int count) {
  int* const values = static_cast<int*>(alloca(count * sizeof(int)));
  for (int k = 0; k < count; ++k) values[k] = i * k;
  int total = 0;
  for (int k = 0; k < count; ++k) total += values[k * 7 % count];
  return total;
}
extern "C" __global__ void stack(int* out, int count) {
  int total = 0;
  for (int k = 0; k < 40; ++k) total += on_stack(threadIdx.x + k, count);
  out[threadIdx.x] = total;
}

__managed__ int counter = 5;
extern "C" __global__ void managed() { atomicAdd(&counter, 1); }

extern "C" __global__ void bytes(char* to, char const* from, size_t count) {
  memcpy(to, from, count);
  memset(to + count, 3, count);
}
