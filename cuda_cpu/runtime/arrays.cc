// Memory management: pitched memory and arrays.
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/process/channels.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

constexpr std::size_t kPitch = 512;  // of rows that cudaMallocPitch() allocates

cudaError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (width == 0 || rows == 0) return cudaSuccess;
  if (*pitch < width || rows > SIZE_MAX / *pitch) return cudaErrorMemoryAllocation;
  return to_error(driver().mem_alloc(reinterpret_cast<CUdeviceptr*>(pointer), *pitch * rows));
}

CUarray handle_of(cudaArray_t array) noexcept { return reinterpret_cast<CUarray>(array); }

}  // namespace

extern "C" {

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call([&] { return allocate_pitched(pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  return call([&]() -> cudaError_t {
    if (memory == nullptr) return cudaErrorInvalidValue;
    memory->xsize = extent.width;
    memory->ysize = extent.height;
    return allocate_pitched(&memory->ptr, &memory->pitch, extent.width, extent.height * extent.depth);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, cudaChannelFormatDesc const* channels, cudaExtent extent,
                              unsigned flags) {
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
    if (!to_driver(*channels, descriptor.Format, descriptor.NumChannels))
      return refuse(cudaErrorInvalidChannelDescriptor, "an array of these channels is not supported");
    descriptor.Width = extent.width;
    descriptor.Height = extent.height;
    descriptor.Depth = extent.depth;
    descriptor.Flags = flags;
    return to_error(driver().array_3d_create(reinterpret_cast<CUarray*>(array), descriptor));
  });
}

cudaError_t cudaMallocArray(cudaArray_t* array, cudaChannelFormatDesc const* channels, std::size_t width,
                            std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return release_call([&]() -> cudaError_t {
    if (array == nullptr) return cudaSuccess;
    return to_error(driver().array_destroy(handle_of(array)));
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  return call([&]() -> cudaError_t {
    cuda_cpu::cpu::Array its;
    if (CUresult const result = cuda_cpu::cpu::array_find(&its, handle_of(array)); result != CUDA_SUCCESS)
      return to_error(result);
    auto const& [width, height, depth, format, count, its_flags] = its.descriptor;
    if (channels != nullptr) *channels = to_runtime(format, count);
    if (extent != nullptr) *extent = {width, height, depth};
    if (flags != nullptr) *flags = its_flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  return channels == nullptr ? finish(cudaErrorInvalidValue)
                             : cudaArrayGetInfo(channels, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"
