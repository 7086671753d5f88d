// A program with a kernel of its own that uses a shared library with kernels.
#include "../check.h"
#include "saxpy.h"

namespace {

constexpr int kCount = 300;

__global__ void kernel(float* to) { to[threadIdx.x] = static_cast<float>(threadIdx.x); }

}  // namespace

int main() {
  float x[kCount];
  float y[kCount];
  float* device = nullptr;
  CUDA(cudaMalloc(&device, sizeof(x)));
  kernel<<<1, kCount>>>(device);
  CUDA(cudaMemcpy(x, device, sizeof(x), cudaMemcpyDeviceToHost));
  CUDA(cudaFree(device));
  for (int i = 0; i < kCount; ++i) y[i] = 1;
  library::saxpy(2, x, y, kCount);
  library::saxpy(-1, x, y, kCount);
  CHECK_EACH(y, kCount, [](int i) { return static_cast<float>(i + 1); });
  CHECK(library::calls() == 2);
}
