// Execution control: launches and host functions.
#include "cuda_cpu/runtime/launch.h"

#include <fmt/format.h>

#include "cuda_cpu/cpu/device.h"  // the limits of a launch
#include "cuda_cpu/process/launch_attributes.h"
#include "cuda_cpu/process/occupancy.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/process/unnoticed.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime {
namespace {

bool is_possible_grid(dim3 grid) noexcept { return cpu::is_possible_grid({grid.x, grid.y, grid.z}); }
bool is_possible_block(dim3 block) noexcept { return cpu::is_possible_block({block.x, block.y, block.z}); }

cudaError_t check_cooperative(CUfunction function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes) {
  int const threads = static_cast<int>(block.x * block.y * block.z);
  std::uint64_t const max_blocks = resident_blocks_of_device(function, threads, dynamic_shared_bytes);
  std::uint64_t const blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (blocks <= max_blocks) return cudaSuccess;
  return refuse(cudaErrorCooperativeLaunchTooLarge,
                fmt::format("a cooperative launch of {} blocks, of which {} run at the same time", blocks, max_blocks));
}

cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void** parameters, std::size_t shared_bytes,
                   cudaStream_t stream, bool is_cooperative = false) {
  if (cudaError_t const error = check_shape(function, grid, block); error != cudaSuccess) return error;
  if (shared_bytes > UINT32_MAX)
    return refuse(cudaErrorInvalidValue, fmt::format("{} bytes of dynamic shared memory", shared_bytes));
  if (is_cooperative)
    if (cudaError_t const error = check_cooperative(function, grid, block, shared_bytes); error != cudaSuccess)
      return error;
  tracing::cuda::Dim3 const blocks{grid.x, grid.y, grid.z}, threads{block.x, block.y, block.z};
  auto const shared = static_cast<unsigned>(shared_bytes);
  return to_error(
      is_cooperative
          ? driver().launch_cooperative_kernel(function, blocks, threads, shared, stream_of(stream), parameters)
          : driver().launch_kernel(function, blocks, threads, shared, stream_of(stream), parameters));
}

[[gnu::always_inline]] inline cudaError_t launch_of(void const* host_function, dim3 grid, dim3 block, void** parameters,
                                                    std::size_t shared_bytes, cudaStream_t stream,
                                                    bool is_cooperative = false,
                                                    Where const& where = Where::current()) noexcept {
  auto const body = [&] {
    Kernel* const kernel = registry().find_kernel(host_function);
    if (kernel == nullptr) return no_kernel(host_function);
    CUfunction function = nullptr;
    if (CUresult const result = kernel->find(&function); result != CUDA_SUCCESS) return keep_refusal(to_error(result));
    return launch(function, grid, block, parameters, shared_bytes, stream, is_cooperative);
  };
  return call(body, where);
}

}  // namespace

cudaError_t check_shape(CUfunction function, dim3 grid, dim3 block) {
  if (!is_possible_grid(grid))
    return refuse(cudaErrorInvalidConfiguration,
                  fmt::format("a launch of {} with grid ({}, {}, {}); a grid has 1 to {} x {} x {} blocks",
                              registry().name_of(function), grid.x, grid.y, grid.z, cpu::kMaxGridX, cpu::kMaxGridYZ,
                              cpu::kMaxGridYZ));
  if (is_possible_block(block)) return cudaSuccess;
  return refuse(
      cudaErrorInvalidConfiguration,
      fmt::format("a launch of {} with block ({}, {}, {}); a block has 1 to {} threads, and at most {} along z",
                  registry().name_of(function), block.x, block.y, block.z, cpu::kMaxThreads, cpu::kMaxBlockZ));
}

}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaLaunchKernel(void const* function, dim3 grid, dim3 block, void** parameters, std::size_t shared_bytes,
                             cudaStream_t stream) {
  return launch_of(function, grid, block, parameters, shared_bytes, stream);
}

// A kernel<<<...>>>(...) calls these two.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host_function) {
  *kernel = reinterpret_cast<cudaKernel_t>(registry().find_kernel(host_function));
  return *kernel == nullptr ? finish(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters, std::size_t shared_bytes,
                               cudaStream_t stream) {
  return call([&] {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    CUfunction function = nullptr;
    CUresult const result = reinterpret_cast<Kernel*>(kernel)->find(&function);
    return result == CUDA_SUCCESS ? launch(function, grid, block, parameters, shared_bytes, stream)
                                  : keep_refusal(to_error(result));
  });
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters,
                                    std::size_t shared_bytes, cudaStream_t stream) {
  PerThreadStreams const scope;
  return __cudaLaunchKernel(kernel, grid, block, parameters, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* configuration, void const* function, void** parameters) {
  if (configuration == nullptr) return finish(cudaErrorInvalidValue);
  bool is_cooperative = false;
  cudaError_t const error = call([&] {
    cudaError_t const refused = read_attributes(configuration->attrs, configuration->numAttrs, is_cooperative);
    return refused == cudaSuccess ? refused : keep_refusal(refused);
  });
  if (error != cudaSuccess) return error;
  return launch_of(function, configuration->gridDim, configuration->blockDim, parameters,
                   configuration->dynamicSmemBytes, configuration->stream, is_cooperative);
}

cudaError_t cudaLaunchCooperativeKernel(void const* function, dim3 grid, dim3 block, void** parameters,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  return launch_of(function, grid, block, parameters, shared_bytes, stream, true);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] { return driver().launch_host_func(stream_of(stream), function, data); });
}

}  // extern "C"
