#include "cuda_cpu/graph/graph_nodes.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/graph/errors.h"

namespace cuda_cpu::graph {

using tracing::cuda::Dim3;

Arguments::Arguments(std::vector<std::byte> bytes, std::vector<std::size_t> const& offsets) : bytes_(std::move(bytes)) {
  for (std::size_t const offset : offsets) pointers_.push_back(const_cast<std::byte*>(bytes_.data()) + offset);
}

CUresult make_kernel_node(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, void** pointers,
                          void** extra, KernelNode& node) {
  auto const loaded = cpu::Device::get()->functions.find(function);
  if (loaded == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  LaunchShape const shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
  if (CUresult const result = cpu::check_launch(*loaded, shape); result != CUDA_SUCCESS) return result;
  std::vector<std::byte> bytes;
  if (CUresult const result = cpu::read_parameters(*loaded->function, pointers, extra, bytes); result != CUDA_SUCCESS)
    return result;
  std::vector<std::size_t> offsets;
  for (auto const& parameter : loaded->function->parameters) offsets.push_back(parameter.offset_bytes);
  node.function = function;
  node.grid = grid;
  node.block = block;
  node.shared_bytes = shared_bytes;
  node.arguments = std::make_shared<Arguments const>(std::move(bytes), offsets);
  return CUDA_SUCCESS;
}

cudaError_t make_node(cudaMemcpy3DParms const* params, NodeParams& node) {
  if (params == nullptr) return cudaErrorInvalidValue;
  auto const ends = [](void const* pointer, cudaArray_t array) { return (pointer != nullptr) + (array != nullptr); };
  if (ends(params->srcPtr.ptr, params->srcArray) != 1 || ends(params->dstPtr.ptr, params->dstArray) != 1)
    return refuse(cudaErrorInvalidValue, "a copy in a graph has one source and one target: a pointer or an array each");
  if (params->kind < cudaMemcpyHostToHost || params->kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  node = MemcpyNode{*params};
  return cudaSuccess;
}

cudaError_t make_node(cudaMemsetParams const* params, NodeParams& node) {
  if (params == nullptr || params->dst == nullptr) return cudaErrorInvalidValue;
  unsigned const bytes = params->elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("elements of {} bytes in a memset of a graph; expected 1, 2 or 4", bytes));
  if (params->height > 1 && params->pitch < params->width * bytes)
    return refuse(cudaErrorInvalidPitchValue, fmt::format("a pitch of {} bytes for rows of {} in a memset of a graph",
                                                          params->pitch, params->width * bytes));
  node = MemsetNode{*params};
  return cudaSuccess;
}

cudaError_t make_node(cudaHostNodeParams const* params, NodeParams& node) {
  if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
  node = HostNode{params->fn, params->userData};
  return cudaSuccess;
}

MemcpyNode linear_copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) noexcept {
  MemcpyNode node;
  node.copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  node.copy.dstPtr = {to, bytes, bytes, 1};
  node.copy.extent = {bytes, 1, 1};
  node.copy.kind = kind;
  return node;
}

CUresult make_copy(CUDA_MEMCPY3D const& copy, NodeParams& node) {
  std::size_t element_bytes = 1;
  for (auto const& [type, array] :
       {std::pair(copy.srcMemoryType, copy.srcArray), std::pair(copy.dstMemoryType, copy.dstArray)}) {
    cpu::Array its;
    if (type != CU_MEMORYTYPE_ARRAY) continue;
    if (CUresult const result = cpu::array_find(&its, array); result != CUDA_SUCCESS) return result;
    element_bytes = its.element_bytes;
  }
  cudaMemcpy3DParms params{};
  auto const pointer = [](CUmemorytype type, void const* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  };
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    params.srcArray = reinterpret_cast<cudaArray_t>(copy.srcArray);
    params.srcPos.x = copy.srcXInBytes / element_bytes;
  } else {
    params.srcPtr = {pointer(copy.srcMemoryType, copy.srcHost, copy.srcDevice), copy.srcPitch, copy.srcPitch,
                     copy.srcHeight};
    params.srcPos.x = copy.srcXInBytes;
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    params.dstArray = reinterpret_cast<cudaArray_t>(copy.dstArray);
    params.dstPos.x = copy.dstXInBytes / element_bytes;
  } else {
    params.dstPtr = {pointer(copy.dstMemoryType, copy.dstHost, copy.dstDevice), copy.dstPitch, copy.dstPitch,
                     copy.dstHeight};
    params.dstPos.x = copy.dstXInBytes;
  }
  params.srcPos.y = copy.srcY;
  params.srcPos.z = copy.srcZ;
  params.dstPos.y = copy.dstY;
  params.dstPos.z = copy.dstZ;
  params.extent = {copy.WidthInBytes / element_bytes, copy.Height, copy.Depth};
  bool const to_host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
    params.kind = cudaMemcpyDefault;
  else if (copy.srcMemoryType == CU_MEMORYTYPE_HOST)
    params.kind = to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  else
    params.kind = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  node = MemcpyNode{params};
  return CUDA_SUCCESS;
}

bool is_linear(cudaMemcpy3DParms const& copy) noexcept {
  auto const is_zero = [](cudaPos const& at) { return at.x == 0 && at.y == 0 && at.z == 0; };
  return copy.srcArray == nullptr && copy.dstArray == nullptr && is_zero(copy.srcPos) && is_zero(copy.dstPos) &&
         copy.extent.height == 1 && copy.extent.depth == 1;
}

}  // namespace cuda_cpu::graph
