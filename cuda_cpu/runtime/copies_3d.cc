// Memory management: copies and fills in two and three dimensions, also to and from arrays.
#include <cstdint>

#include "cuda_cpu/cpu/further_calls.h"
#include "cuda_cpu/runtime/copies.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime {
namespace {

CUarray handle_of(cudaArray_const_t array) noexcept {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

// One end of a copy. Without an array, `x` is in bytes.
struct End {
  cudaArray_const_t array = nullptr;
  void const* memory = nullptr;
  std::size_t pitch = 0;
  std::size_t height = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
};

struct Copy {
  End to;
  End from;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

CUmemorytype type_of(End const& end, bool is_device) noexcept {
  if (end.array != nullptr) return CU_MEMORYTYPE_ARRAY;
  return is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

// An array counts as memory of the device.
void const* place_of(End const& end) {
  cpu::Array array;
  if (end.array == nullptr) return end.memory;
  return cpu::array_find(&array, handle_of(end.array)) == CUDA_SUCCESS ? reinterpret_cast<void const*>(array.memory)
                                                                       : nullptr;
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

cudaError_t run(Copy const& copy, cudaStream_t given, bool waits) {
  CUDA_MEMCPY3D its{};
  if (cudaError_t const error = to_driver(copy, its); error != cudaSuccess) return error;
  CUstream const stream = stream_of(given);
  if (waits && stream == nullptr) return to_error(driver().memcpy_3d(its));
  CUresult const result = driver().memcpy_3d_async(its, stream);
  return to_error(waits && result == CUDA_SUCCESS ? driver().stream_synchronize(stream) : result);
}

cudaError_t copy_2d(Copy const& copy, cudaStream_t stream, bool waits) noexcept {
  return call([&]() -> cudaError_t {
    bool const has_pitches = (copy.to.array != nullptr || copy.row_bytes <= copy.to.pitch) &&
                             (copy.from.array != nullptr || copy.row_bytes <= copy.from.pitch);
    if (!has_pitches) return refuse(cudaErrorInvalidPitchValue, "a row of the copy is wider than the pitch");
    return run(copy, stream, waits);
  });
}

// Bytes of an element where one end is an array, else one: extents and x are in elements then.
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

cudaError_t copy_3d(cudaMemcpy3DParms const* parameters, cudaStream_t stream, bool waits) noexcept {
  return call([&]() -> cudaError_t {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    Copy copy;
    cudaError_t const error = read(*parameters, copy);
    return error == cudaSuccess ? run(copy, stream, waits) : error;
  });
}

cudaError_t fill(cudaPitchedPtr const& to, int value, cudaExtent const& extent, cudaStream_t given) noexcept {
  return call([&]() -> cudaError_t {
    CUstream const stream = stream_of(given);
    auto const address = reinterpret_cast<CUdeviceptr>(to.ptr);
    auto const byte = static_cast<unsigned char>(value);
    // Slices without gaps between them are one fill.
    bool const has_gaps = extent.depth > 1 && extent.height != to.ysize;
    if (has_gaps && extent.height > to.ysize)
      return refuse(cudaErrorInvalidValue, "a slice of the memset has more rows than one of the memory");
    std::size_t const fills = has_gaps ? extent.depth : 1;
    std::size_t const rows = extent.height * extent.depth / fills;
    CUresult result = CUDA_SUCCESS;
    for (std::size_t i = 0; i < fills && result == CUDA_SUCCESS; ++i)
      result = driver().memset_d2d8_async(address + i * to.pitch * to.ysize, to.pitch, byte, extent.width, rows,
                                          stream);
    return to_error(result);
  });
}

}  // namespace

cudaError_t to_driver(cudaMemcpy3DParms const& parameters, CUDA_MEMCPY3D& out) {
  Copy copy;
  cudaError_t const error = read(parameters, copy);
  return error == cudaSuccess ? to_driver(copy, out) : error;
}

}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d({{.memory = to, .pitch = to_pitch}, {.memory = from, .pitch = from_pitch}, width, height, 1, kind},
                 stream, false);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return copy_2d({{.memory = to, .pitch = to_pitch}, {.memory = from, .pitch = from_pitch}, width, height, 1, kind},
                 nullptr, true);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, void const* from, std::size_t pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_2d({{.array = to, .x = x, .y = y}, {.memory = from, .pitch = pitch}, width, height, 1, kind}, nullptr,
                 true);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, void const* from, std::size_t pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d({{.array = to, .x = x, .y = y}, {.memory = from, .pitch = pitch}, width, height, 1, kind}, stream,
                 false);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_2d({{.memory = to, .pitch = pitch}, {.array = from, .x = x, .y = y}, width, height, 1, kind}, nullptr,
                 true);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy_2d({{.memory = to, .pitch = pitch}, {.array = from, .x = x, .y = y}, width, height, 1, kind}, stream,
                 false);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                     std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind) {
  return copy_2d(
      {{.array = to, .x = to_x, .y = to_y}, {.array = from, .x = from_x, .y = from_y}, width, height, 1, kind}, nullptr,
      true);
}

// Deprecated forms for whole rows: here only for what begins at a row's start and fits into one row.
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, void const* from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  return cudaMemcpy2DToArray(to, x, y, from, bytes, bytes, 1, kind);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DFromArray(to, bytes, from, x, y, bytes, 1, kind);
}

cudaError_t cudaMemcpy3D(cudaMemcpy3DParms const* parameters) { return copy_3d(parameters, nullptr, true); }
cudaError_t cudaMemcpy3DAsync(cudaMemcpy3DParms const* parameters, cudaStream_t stream) {
  return copy_3d(parameters, stream, false);
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return fill({to, pitch, width, height}, value, {width, height, 1}, stream);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill(to, value, extent, stream);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) { return fill(to, value, extent, nullptr); }

}  // extern "C"
