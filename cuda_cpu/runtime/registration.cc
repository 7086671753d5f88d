// Functions that code made by nvcc calls before main() and around launches. Signatures as in the toolkit's
// crt/host_runtime.h.
#include <utility>

#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using cuda_cpu::runtime::Binary;
using cuda_cpu::runtime::LaunchConfiguration;
using cuda_cpu::runtime::registry;

namespace {

Binary& binary_of(void** handle) noexcept { return *reinterpret_cast<Binary*>(handle); }

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) { return reinterpret_cast<void**>(&registry().add(wrapper)); }

void __cudaRegisterFatBinaryEnd(void**) {}

// Called by atexit(), and when a library is closed. The module stays loaded: kernels may still run.
void __cudaUnregisterFatBinary(void** handle) { registry().remove(binary_of(handle)); }

void __cudaRegisterFunction(void** handle, char const* host_function, char*, char const* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  registry().add_kernel(binary_of(handle), host_function, name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, char const* name, int, std::size_t bytes, int, int) {
  registry().add_variable(binary_of(handle), host_variable, name, bytes, nullptr);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, char const* name, int, std::size_t bytes, int,
                              int) {
  registry().add_variable(binary_of(handle), host_pointer, name, bytes, host_pointer);
}

// A program calls it before its first use of a managed variable.
char __cudaInitModule(void** handle) {
  return cuda_cpu::runtime::call([&] { return registry().place_managed(binary_of(handle)); }) == cudaSuccess ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  cuda_cpu::cpu::CallerScope const caller;
  cuda_cpu::runtime::this_thread().configurations.push_back(
      {grid, block, shared_bytes, stream, cuda_cpu::cpu::this_call()});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  auto& configurations = cuda_cpu::runtime::this_thread().configurations;
  if (configurations.empty()) return cuda_cpu::runtime::finish(cudaErrorMissingConfiguration);
  LaunchConfiguration const& latest = configurations.back();
  *grid = latest.grid;
  *block = latest.block;
  *shared_bytes = latest.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = latest.stream;
  auto& thread = cuda_cpu::cpu::this_thread();
  thread.launch_site = latest.site;
  thread.has_launch_site = !latest.site.empty();
  configurations.pop_back();
  return cudaSuccess;
}

}  // extern "C"
