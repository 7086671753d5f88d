#include "cuda_cpu/graph/copies.h"

#include <fmt/format.h>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/graph/errors.h"

namespace cuda_cpu::graph {
namespace {

CUarray handle_of(cudaArray_const_t array) noexcept {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

// Memory of the host does not count, pinned or not.
bool is_device_memory(void const* pointer) {
  CUdeviceptr begin = 0;
  return cpu::mem_get_address_range(&begin, nullptr, reinterpret_cast<CUdeviceptr>(pointer)) == CUDA_SUCCESS;
}

// Refuses memory of the device if the copy's kind says memory of the host: that is undefined on a GPU.
cudaError_t check_host_end(void const* memory) {
  if (cpu::pointer_info(memory).owner != cpu::MemoryOwner::device) return cudaSuccess;
  return refuse(cudaErrorInvalidValue,
                fmt::format("the kind of the copy calls {} memory of the host, but it is the device's", memory));
}

CUmemorytype type_of(End const& end, bool is_device) noexcept {
  if (end.array != nullptr) return CU_MEMORYTYPE_ARRAY;
  return is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

// Returns an address at an end, for direction_of(): an array is memory of the device.
void const* place_of(End const& end) {
  cpu::Array array;
  if (end.array == nullptr) return end.memory;
  return cpu::array_find(&array, handle_of(end.array)) == CUDA_SUCCESS ? reinterpret_cast<void const*>(array.memory)
                                                                       : nullptr;
}

// Converts to bytes: x in an array, and the width of a copy with an array, count the array's elements.
cudaError_t read(cudaMemcpy3DParms const& parameters, Copy& copy) {
  std::size_t element_bytes = 1;
  for (cudaArray_t const array : {parameters.srcArray, parameters.dstArray}) {
    cpu::Array its;
    if (array == nullptr) continue;
    if (cpu::array_find(&its, handle_of(array)) != CUDA_SUCCESS) return cudaErrorInvalidResourceHandle;
    element_bytes = its.element_bytes;
  }
  auto const end = [&](cudaArray_t array, cudaPitchedPtr const& memory, cudaPos const& at) -> End {
    return {array, memory.ptr, memory.pitch, memory.ysize, array == nullptr ? at.x : at.x * element_bytes, at.y, at.z};
  };
  copy.to = end(parameters.dstArray, parameters.dstPtr, parameters.dstPos);
  copy.from = end(parameters.srcArray, parameters.srcPtr, parameters.srcPos);
  copy.row_bytes = parameters.extent.width * element_bytes;
  copy.rows = parameters.extent.height;
  copy.slices = parameters.extent.depth;
  copy.kind = parameters.kind;
  return cudaSuccess;
}

}  // namespace

cudaError_t direction_of(cudaMemcpyKind kind, void const* to, void const* from, Direction* direction) {
  switch (kind) {
    case cudaMemcpyHostToHost: {
      *direction = Direction::host_to_host;
      cudaError_t const error = check_host_end(from);
      return error == cudaSuccess ? check_host_end(to) : error;
    }
    case cudaMemcpyHostToDevice: *direction = Direction::host_to_device; return check_host_end(from);
    case cudaMemcpyDeviceToHost: *direction = Direction::device_to_host; return check_host_end(to);
    case cudaMemcpyDeviceToDevice: *direction = Direction::device_to_device; return cudaSuccess;
    case cudaMemcpyDefault: {
      bool const from_device = is_device_memory(from);
      bool const to_device = is_device_memory(to);
      *direction = from_device ? (to_device ? Direction::device_to_device : Direction::device_to_host)
                               : (to_device ? Direction::host_to_device : Direction::host_to_host);
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t to_driver(Copy const& copy, CUDA_MEMCPY3D& out) {
  Direction direction{};
  if (cudaError_t const error = direction_of(copy.kind, place_of(copy.to), place_of(copy.from), &direction);
      error != cudaSuccess)
    return error;
  out.dstMemoryType =
      type_of(copy.to, direction == Direction::host_to_device || direction == Direction::device_to_device);
  out.srcMemoryType =
      type_of(copy.from, direction == Direction::device_to_host || direction == Direction::device_to_device);
  out.dstHost = const_cast<void*>(copy.to.memory);
  out.dstDevice = reinterpret_cast<CUdeviceptr>(copy.to.memory);
  out.dstArray = handle_of(copy.to.array);
  out.dstPitch = copy.to.pitch;
  out.dstHeight = copy.to.height;
  out.dstXInBytes = copy.to.x;
  out.dstY = copy.to.y;
  out.dstZ = copy.to.z;
  out.srcHost = copy.from.memory;
  out.srcDevice = reinterpret_cast<CUdeviceptr>(copy.from.memory);
  out.srcArray = handle_of(copy.from.array);
  out.srcPitch = copy.from.pitch;
  out.srcHeight = copy.from.height;
  out.srcXInBytes = copy.from.x;
  out.srcY = copy.from.y;
  out.srcZ = copy.from.z;
  out.WidthInBytes = copy.row_bytes;
  out.Height = copy.rows;
  out.Depth = copy.slices;
  return cudaSuccess;
}

cudaError_t to_driver(cudaMemcpy3DParms const& parameters, CUDA_MEMCPY3D& out) {
  Copy copy;
  cudaError_t const error = read(parameters, copy);
  return error == cudaSuccess ? to_driver(copy, out) : error;
}

}  // namespace cuda_cpu::graph
