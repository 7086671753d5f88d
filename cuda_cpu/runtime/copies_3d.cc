// Memory management: copies and fills in two and three dimensions, also to and from arrays.
#include "cuda_cpu/graph/copies.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime { namespace {

cudaError_t run(CUDA_MEMCPY3D const& copy, cudaStream_t given, bool waits) {
  CUstream const stream = stream_of(given);
  if (waits && stream == nullptr) return to_error(driver().memcpy_3d(copy));
  CUresult const result = driver().memcpy_3d_async(copy, stream);
  return to_error(waits && result == CUDA_SUCCESS ? driver().stream_synchronize(stream) : result);
}

cudaError_t copy_2d(Copy const& copy, cudaStream_t stream, bool waits) noexcept {
  return call([&]() -> cudaError_t {
    bool const has_pitches = (copy.to.array != nullptr || copy.row_bytes <= copy.to.pitch) &&
                             (copy.from.array != nullptr || copy.row_bytes <= copy.from.pitch);
    if (!has_pitches) return refuse(cudaErrorInvalidPitchValue, "a row of the copy is wider than the pitch");
    CUDA_MEMCPY3D its{};
    cudaError_t const error = to_driver(copy, its);
    return error == cudaSuccess ? run(its, stream, waits) : error;
  });
}

cudaError_t copy_3d(cudaMemcpy3DParms const* parameters, cudaStream_t stream, bool waits) noexcept {
  return call([&]() -> cudaError_t {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D copy{};
    cudaError_t const error = to_driver(*parameters, copy);
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
      result =
          driver().memset_d2d8_async(address + i * to.pitch * to.ysize, to.pitch, byte, extent.width, rows, stream);
    return to_error(result);
  });
}

}}  // namespace cuda_cpu::runtime

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

// Deprecated forms, whose bytes may go on in the next row: supported here only within one row.
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
