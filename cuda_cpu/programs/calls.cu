// Calls of the device whose target is known only when they run: tables of functions, virtual functions, recursion; and memory
// that kernels allocate.
#include "check.h"

namespace {

constexpr int kCount = 40;

__device__ int square(int value) { return value * value; }
__device__ int half(int value) { return value / 2; }
__device__ int negative(int value) { return -value; }

using Operation = int (*)(int);
__device__ Operation const operations[3] = {square, half, negative};
__device__ Operation chosen = square;

__global__ void apply_operations(int* values, int count) {
  int const i = threadIdx.x;
  if (i < count) values[i] = operations[i % 3](i) + chosen(1);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  __device__ explicit Square(int its_side) : side(its_side) {}
  __device__ int area() const override { return side * side; }
  int side;
};
struct Rectangle : Shape {
  __device__ Rectangle(int its_width, int its_height) : width(its_width), height(its_height) {}
  __device__ int area() const override { return width * height; }
  int width;
  int height;
};

__device__ Shape* make_shape(int i) {
  if (i % 2 == 0) return new Square(i);
  return new Rectangle(i, 3);
}

__global__ void measure(int* areas, int count) {
  int const i = threadIdx.x;
  if (i >= count) return;
  Shape* const shape = make_shape(i);
  areas[i] = shape->area();
  delete shape;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(int* to) { to[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x)); }

// A list of a length that only the device knows.
__global__ void sum_of_list(int* sums) {
  struct Node {
    int value;
    Node* next;
  };
  int const length = static_cast<int>(threadIdx.x) + 1;
  Node* first = nullptr;
  for (int i = 1; i <= length; ++i) first = new Node{i, first};
  int sum = 0;
  while (first != nullptr) {
    sum += first->value;
    Node* const next = first->next;
    delete first;
    first = next;
  }
  sums[threadIdx.x] = sum;
}

}  // namespace

int main() {
  int* values = nullptr;
  int host[kCount];
  CUDA(cudaMalloc(&values, sizeof(host)));
  apply_operations<<<1, 64>>>(values, kCount);
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return (i % 3 == 0 ? i * i : i % 3 == 1 ? i / 2 : -i) + 1; });

  measure<<<1, 64>>>(values, kCount);
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return i % 2 == 0 ? i * i : i * 3; });

  recurse<<<1, 12>>>(values);
  CUDA(cudaMemcpy(host, values, 12 * sizeof(int), cudaMemcpyDeviceToHost));
  int const fibonacci_numbers[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  CHECK_EACH(host, 12, [&](int i) { return fibonacci_numbers[i]; });

  sum_of_list<<<1, 32>>>(values);
  CUDA(cudaMemcpy(host, values, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, 32, [](int i) { return (i + 1) * (i + 2) / 2; });
  CUDA(cudaFree(values));
}
