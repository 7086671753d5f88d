// The kinds of memory: of the device, pinned, mapped and registered memory of the host, and what the runtime says of each.
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 1000;

__global__ void add(int* values, int count, int term) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += term;
}

void run_add(int* values, int term) {
  add<<<(kCount + 127) / 128, 128>>>(values, kCount, term);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
}

cudaMemoryType type_of(void const* pointer) {
  cudaPointerAttributes attributes{};
  CUDA(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

void device_memory() {
  std::vector<int> host(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = i;
  int* device = nullptr;
  CUDA(cudaMalloc(&device, kCount * sizeof(int)));
  CHECK(type_of(device) == cudaMemoryTypeDevice);
  CHECK(type_of(device + kCount - 1) == cudaMemoryTypeDevice);
  CUDA(cudaMemcpy(device, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  run_add(device, 5);
  // The direction follows from the pointers.
  CUDA(cudaMemcpy(host.data(), device, kCount * sizeof(int), cudaMemcpyDefault));
  CHECK_EACH(host.data(), kCount, [](int i) { return i + 5; });

  int* copy = nullptr;
  CUDA(cudaMalloc(&copy, kCount * sizeof(int)));
  CUDA(cudaMemset(copy, 0xff, kCount * sizeof(int)));
  CUDA(cudaMemcpy(copy + 1, device, (kCount - 1) * sizeof(int), cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy(host.data(), copy, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EACH(host.data(), kCount, [](int i) { return i == 0 ? -1 : i + 4; });
  CUDA(cudaFree(copy));
  CUDA(cudaFree(device));
  CUDA(cudaFree(nullptr));
}

void pinned_memory() {
  int* pinned = nullptr;
  CUDA(cudaMallocHost(&pinned, kCount * sizeof(int)));
  CHECK(type_of(pinned) == cudaMemoryTypeHost);
  for (int i = 0; i < kCount; ++i) pinned[i] = 2 * i;
  int* device = nullptr;
  CUDA(cudaMalloc(&device, kCount * sizeof(int)));
  CUDA(cudaMemcpyAsync(device, pinned, kCount * sizeof(int), cudaMemcpyHostToDevice, nullptr));
  add<<<(kCount + 255) / 256, 256>>>(device, kCount, 1);
  CUDA(cudaMemcpyAsync(pinned, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, nullptr));
  CUDA(cudaStreamSynchronize(nullptr));
  CHECK_EACH(pinned, kCount, [](int i) { return 2 * i + 1; });
  CUDA(cudaFree(device));
  CUDA(cudaFreeHost(pinned));
}

void mapped_memory() {
  int* mapped = nullptr;
  CUDA(cudaHostAlloc(&mapped, kCount * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < kCount; ++i) mapped[i] = -i;
  int* device = nullptr;
  unsigned flags = 0;
  CUDA(cudaHostGetFlags(&flags, mapped + 1));
  CHECK((flags & cudaHostAllocMapped) != 0 && (flags & cudaHostAllocWriteCombined) == 0);
  CUDA(cudaHostGetDevicePointer(&device, mapped, 0));
  run_add(device, 3);
  CHECK_EACH(mapped, kCount, [](int i) { return 3 - i; });
  CUDA(cudaFreeHost(mapped));
}

void registered_memory() {
  std::vector<int> host(kCount, 1);
  CHECK(type_of(host.data()) == cudaMemoryTypeUnregistered);
  CUDA(cudaHostRegister(host.data(), kCount * sizeof(int), cudaHostRegisterMapped));
  CHECK(type_of(host.data()) == cudaMemoryTypeHost);
  int* device = nullptr;
  CUDA(cudaHostGetDevicePointer(&device, host.data(), 0));
  run_add(device, 41);
  CHECK_EACH(host.data(), kCount, [](int) { return 42; });
  unsigned flags = 0;
  CUDA_FAILS(cudaErrorInvalidValue, cudaHostGetFlags(&flags, host.data()));  // of allocations alone
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaHostUnregister(host.data()));
  CHECK(type_of(host.data()) == cudaMemoryTypeUnregistered);
}

void how_much_there_is() {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  CUDA(cudaMemGetInfo(&free_before, &total));
  CHECK(free_before > 0 && free_before <= total);
  void* large = nullptr;
  CUDA(cudaMalloc(&large, std::size_t{64} << 20));
  CUDA(cudaMemGetInfo(&free_after, &total));
  CHECK(free_after < free_before);
  CUDA(cudaFree(large));

  void* impossible = nullptr;
  CUDA_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&impossible, std::size_t{1} << 60));
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CUDA(cudaMalloc(&large, 1));  // the device goes on
  CUDA(cudaFree(large));
}

}  // namespace

int main() {
  device_memory();
  pinned_memory();
  mapped_memory();
  registered_memory();
  how_much_there_is();
}
