// Relocatable device code: functions, variables and a kernel of another unit.
#include "../check.h"
#include "stages.h"

namespace {

constexpr int kCount = 40;

__device__ int internal() { return 1000000; }

__global__ void apply_and_add(int* values, int count) {
  int const i = threadIdx.x;
  if (i < count) values[i] = stage(i) + step + internal();
}

int stage_on_host(int value, int step_now) {
  int const weights_on_host[4] = {1, 10, 100, 1000};
  return value * weights_on_host[value % 4] + step_now + 1;
}

}  // namespace

int main() {
  int* values = nullptr;
  int host[kCount];
  CUDA(cudaMalloc(&values, sizeof(host)));
  apply_and_add<<<1, 64>>>(values, kCount);
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return stage_on_host(i, 3) + 3 + 1000000; });

  // A variable of the other unit is changed from here, and its kernel launched.
  int const new_step = 50;
  CUDA(cudaMemcpyToSymbol(step, &new_step, sizeof(int)));
  for (int i = 0; i < kCount; ++i) host[i] = i;
  CUDA(cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice));
  apply_stage<<<2, 32>>>(values, kCount);
  CUDA(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kCount, [](int i) { return stage_on_host(i, 50); });
  CUDA(cudaFree(values));
}
