// How a program ends that did not notice, or did notice, what failed: the status and what is printed. The argument
// chooses the case.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

__global__ void fill(int* to) { to[threadIdx.x] = 1; }
__global__ void copy(int* to, int const* from) { to[threadIdx.x] = from[threadIdx.x]; }
template <class... Types>
__global__ void fill_as(int* to) {
  to[threadIdx.x] = 1;
}
__global__ void brkpt() { asm volatile("brkpt;"); }
__global__ void wait_for(int volatile* flag) {
  while (*flag == 0) continue;
}

int* allocate(int count) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(int)) != cudaSuccess) std::exit(2);
  return memory;
}

void last_launch_faults() { fill<<<1, 32>>>(allocate(31)); }

void fault_is_ignored() {
  int* const memory = allocate(31);
  fill<<<1, 32>>>(memory);
  cudaFree(memory);
}

void fault_ends_with_another_status() {
  fill<<<1, 32>>>(allocate(31));
  std::exit(cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 3 : 2);
}

void fault_has_a_long_name() {
  fill_as<int, unsigned long, int*, unsigned long*, int**, unsigned long**, int***, unsigned long***, void (*)(int)>
      <<<1, 32>>>(allocate(31));
}

void uses_freed_memory() {
  int* const memory = allocate(256);
  cudaFree(memory);
  fill<<<1, 32>>>(memory);
  cudaDeviceSynchronize();
}

void leaks() {
  for (int i = 0; i < 2; ++i) allocate(256);
}

void frees_twice() {
  int* const memory = allocate(256);
  cudaFree(memory);
  cudaFree(memory);
}

void copies_too_much() {
  int host[300];
  int* const memory = allocate(256);
  cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(memory);
}

// As a test of errors does.
void asks_for_errors() {
  int* const memory = allocate(256);
  cudaFree(memory);
  if (cudaFree(memory) != cudaErrorInvalidValue || cudaGetLastError() != cudaErrorInvalidValue) std::exit(2);
}

// As a pool does that takes as much memory as there is. Nobody asks for the errors.
void tries_calls() {
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::size_t{1} << 50) != cudaErrorMemoryAllocation) std::exit(2);
  if (cudaSetDevice(1) != cudaErrorInvalidDevice) std::exit(2);
}

void drops_a_refusal() {
  int* const memory = allocate(32);
  brkpt<<<1, 1>>>();
  cudaGetLastError();
  int host = 0;
  for (int i = 0; i < 2; ++i)
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost)));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost)));
}

void drops_a_refused_cluster() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 2;
  configuration.blockDim = 32;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  cudaLaunchKernelEx(&configuration, fill, allocate(32));
  cudaGetLastError();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

void reads_unwritten_memory() {
  int* const memory = allocate(64);
  copy<<<1, 32>>>(memory, memory + 32);
  cudaDeviceSynchronize();
}

void kernel_never_ends() {
  int* const flag = allocate(1);
  cudaMemset(flag, 0, sizeof(int));
  wait_for<<<1, 1>>>(flag);
}

constexpr struct {
  std::string_view name;
  void (*run)();
} kCases[] = {{"last_launch_faults", last_launch_faults},
              {"fault_is_ignored", fault_is_ignored},
              {"fault_ends_with_another_status", fault_ends_with_another_status},
              {"fault_has_a_long_name", fault_has_a_long_name},
              {"uses_freed_memory", uses_freed_memory},
              {"leaks", leaks},
              {"frees_twice", frees_twice},
              {"copies_too_much", copies_too_much},
              {"asks_for_errors", asks_for_errors},
              {"tries_calls", tries_calls},
              {"drops_a_refusal", drops_a_refusal},
              {"drops_a_refused_cluster", drops_a_refused_cluster},
              {"reads_unwritten_memory", reads_unwritten_memory},
              {"kernel_never_ends", kernel_never_ends}};

}  // namespace

int main(int, char** arguments) {
  for (auto const& [name, run] : kCases)
    if (name == arguments[1]) return run(), 0;
  return 2;
}
