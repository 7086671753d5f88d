// A small program whose trace is shown: memory, a stream, copies, two kernels and an event.
#include "check.h"

namespace physics {
namespace {

struct Particle {
  float position;
  float velocity;
};

template <class Field>
__global__ void move(Particle* particles, int count, float seconds, Field field) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  particles[i].velocity += seconds * field(particles[i].position);
  particles[i].position += seconds * particles[i].velocity;
}

__global__ void sum_up(Particle const* particles, int count, float* energy) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += particles[i].velocity * particles[i].velocity / 2;
  *energy = sum;
}

struct Spring {
  float stiffness;
  __device__ float operator()(float position) const { return -stiffness * position; }
};

}  // namespace
}  // namespace physics

int main() {
  using namespace physics;
  constexpr int kCount = 64;
  Particle particles[kCount];
  for (int i = 0; i < kCount; ++i) particles[i] = {static_cast<float>(i), 0};
  cudaStream_t stream = nullptr;
  CUDA(cudaStreamCreate(&stream));
  Particle* on_device = nullptr;
  float* energy = nullptr;
  CUDA(cudaMalloc(&on_device, sizeof(particles)));
  CUDA(cudaMalloc(&energy, sizeof(float)));
  CUDA(cudaMemsetAsync(energy, 0, sizeof(float), stream));
  CUDA(cudaMemcpyAsync(on_device, particles, sizeof(particles), cudaMemcpyHostToDevice, stream));
  move<<<2, 32, 0, stream>>>(on_device, kCount, 0.5f, Spring{2});
  sum_up<<<1, 1, 0, stream>>>(on_device, kCount, energy);
  cudaEvent_t done = nullptr;
  CUDA(cudaEventCreate(&done));
  CUDA(cudaEventRecord(done, stream));
  CUDA(cudaEventSynchronize(done));
  float energy_on_host = 0;
  CUDA(cudaMemcpy(&energy_on_host, energy, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(energy_on_host == 63 * 64 * 127 / 6 / 2);
  CUDA_FAILS(cudaErrorInvalidValue, cudaFree(&energy_on_host));
  CUDA(cudaEventDestroy(done));
  CUDA(cudaFree(on_device));
  CUDA(cudaFree(energy));
  CUDA(cudaStreamDestroy(stream));
}
