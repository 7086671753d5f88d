// Several units: static kernels and variables of one name, inline kernels, templates and lambdas.
#include "../check.h"
#include "scale.h"

static __device__ int own = 1;

static __global__ void work(int* values, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = i;
}

namespace {

__global__ void hidden(int* to) { *to = own * 100; }

struct Polynomial {
  double a;
  double b;

  __host__ __device__ double operator()(double x) const { return a * x + b; }
};

constexpr int kCount = 50;

}  // namespace

int main() {
  int* values = nullptr;
  CUDA(cudaMalloc(&values, kCount * sizeof(int)));
  int host[kCount];
  work<<<1, 64>>>(values, kCount);
  scale<int, 3><<<1, 64>>>(values, kCount);
  run_other_unit(values, kCount);
  negate<<<1, 64>>>(values, kCount);
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return 3 * i + 1000; });

  int const offset = 7;
  int* const captured = values;
  for_each_index<<<2, 32>>>(kCount, [=] __device__(int i) { captured[i] = i * i + offset; });
  for_each_index<<<2, 32>>>(kCount, [=] __device__(int i) { captured[i] -= offset + 1; });
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return i * i - 1; });
  CUDA(cudaFree(values));

  double* reals = nullptr;
  double reals_on_host[kCount];
  CUDA(cudaMalloc(&reals, sizeof(reals_on_host)));
  Polynomial const polynomial{0.25, -3};
  for_each_index<<<2, 32>>>(kCount, [=] __device__(int i) { reals[i] = polynomial(i); });
  scale<double, 2><<<1, 64>>>(reals, kCount);
  CUDA(cudaMemcpy(reals_on_host, reals, sizeof(reals_on_host), cudaMemcpyDeviceToHost));
  CHECK_EACH(reals_on_host, kCount, [&](int i) { return 2 * polynomial(i); });
  CUDA(cudaFree(reals));

  int* to = nullptr;
  int own_of_this_unit = 0;
  CUDA(cudaMalloc(&to, sizeof(int)));
  hidden<<<1, 1>>>(to);
  CUDA(cudaMemcpy(&own_of_this_unit, to, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(own_of_this_unit == 100);
  CHECK(own_of_other_unit() == 400);
  int const changed = 5;
  CUDA(cudaMemcpyToSymbol(own, &changed, sizeof(int)));
  hidden<<<1, 1>>>(to);
  CUDA(cudaMemcpy(&own_of_this_unit, to, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(own_of_this_unit == 500);
  CHECK(own_of_other_unit() == 400);
  CUDA(cudaFree(to));
}
