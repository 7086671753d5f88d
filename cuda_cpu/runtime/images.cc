// Texture objects and surface objects.
#include "cuda_cpu/process/images.h"
#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/process/channels.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;
namespace cpu = cuda_cpu::cpu;

namespace {

using cuda_cpu::process::to_driver;
using cuda_cpu::process::to_runtime;

// Kinds of resources, address modes and filters have the same numbers in both libraries.
cudaError_t to_driver(cudaResourceDesc const& from, CUDA_RESOURCE_DESC& to) {
  to = {};
  to.resType = static_cast<CUresourcetype>(from.resType);
  to.flags = from.flags;
  bool is_known = true;
  if (from.resType == cudaResourceTypeArray) {
    to.res.array.hArray = reinterpret_cast<CUarray>(from.res.array.array);
  } else if (from.resType == cudaResourceTypeLinear) {
    auto const& linear = from.res.linear;
    is_known = to_driver(linear.desc, to.res.linear.format, to.res.linear.numChannels);
    to.res.linear.devPtr = reinterpret_cast<CUdeviceptr>(linear.devPtr);
    to.res.linear.sizeInBytes = linear.sizeInBytes;
  } else if (from.resType == cudaResourceTypePitch2D) {
    auto const& pitched = from.res.pitch2D;
    is_known = to_driver(pitched.desc, to.res.pitch2D.format, to.res.pitch2D.numChannels);
    to.res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(pitched.devPtr);
    to.res.pitch2D.width = pitched.width;
    to.res.pitch2D.height = pitched.height;
    to.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
  }
  return is_known ? cudaSuccess
                  : refuse(cudaErrorInvalidChannelDescriptor, "a texture of these channels is not supported");
}

cudaResourceDesc to_runtime(CUDA_RESOURCE_DESC const& from) {
  cudaResourceDesc to{};
  to.resType = static_cast<cudaResourceType>(from.resType);
  if (from.resType == CU_RESOURCE_TYPE_ARRAY) {
    to.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
  } else if (from.resType == CU_RESOURCE_TYPE_LINEAR) {
    auto const& linear = from.res.linear;
    to.res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
    to.res.linear.desc = to_runtime(linear.format, linear.numChannels);
    to.res.linear.sizeInBytes = linear.sizeInBytes;
  } else {
    auto const& pitched = from.res.pitch2D;
    to.res.pitch2D.devPtr = reinterpret_cast<void*>(pitched.devPtr);
    to.res.pitch2D.desc = to_runtime(pitched.format, pitched.numChannels);
    to.res.pitch2D.width = pitched.width;
    to.res.pitch2D.height = pitched.height;
    to.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
  }
  return to;
}

CUDA_TEXTURE_DESC to_driver(cudaTextureDesc const& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  to.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0U) |
             (from.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0U) | (from.sRGB != 0 ? CU_TRSF_SRGB : 0U) |
             (from.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0U) |
             (from.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0U);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  return to;
}

cudaTextureDesc to_runtime(CUDA_TEXTURE_DESC const& from) {
  cudaTextureDesc to{};
  auto const has = [&from](unsigned flag) { return (from.flags & flag) != 0 ? 1 : 0; };
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode = has(CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.normalizedCoords = has(CU_TRSF_NORMALIZED_COORDINATES);
  to.sRGB = has(CU_TRSF_SRGB);
  to.disableTrilinearOptimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  to.seamlessCubemap = has(CU_TRSF_SEAMLESS_CUBEMAP);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  return to;
}

// The driver has no error code of its own for this.
bool filters_integers(cudaResourceDesc const& resource, CUDA_RESOURCE_DESC const& driver_resource,
                      cudaTextureDesc const& texture) {
  if (texture.filterMode != cudaFilterModeLinear || resource.resType == cudaResourceTypeLinear) return false;
  CUarray_format format = driver_resource.res.pitch2D.format;
  if (resource.resType == cudaResourceTypeArray) {
    cpu::Array array;
    if (cpu::array_find(&array, driver_resource.res.array.hArray) != CUDA_SUCCESS) return false;
    format = array.descriptor.Format;
  }
  auto const found = cpu::find_format(format);
  bool const is_float = found && found->channel == cuda_cpu::Channel::floating;
  return found && !is_float && (texture.readMode == cudaReadModeElementType || found->bytes == 4);
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, cudaResourceDesc const* resource,
                                    cudaTextureDesc const* texture, cudaResourceViewDesc const* view) {
  return call([&]() -> cudaError_t {
    if (out == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
    if (view != nullptr) return refuse(cudaErrorNotSupported, "resource views are not supported");
    CUDA_RESOURCE_DESC its{};
    if (cudaError_t const error = to_driver(*resource, its); error != cudaSuccess) return error;
    if (filters_integers(*resource, its, *texture))
      return refuse(cudaErrorInvalidFilterSetting,
                    "linear filtering of integers that are not read as normalized floats");
    CUDA_TEXTURE_DESC const reading = to_driver(*texture);
    return to_error(create_texture(out, &its, &reading, nullptr));
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return release_call([&] { return destroy_texture(texture); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t texture) {
  return call([&] {
    CUDA_RESOURCE_DESC its{};
    CUresult const result = out == nullptr ? CUDA_ERROR_INVALID_VALUE : cpu::texture_find(&its, nullptr, texture);
    if (result == CUDA_SUCCESS) *out = to_runtime(its);
    return to_error(check_image_call(result, "cuTexObjectGetResourceDesc()"));
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  return call([&] {
    CUDA_TEXTURE_DESC its{};
    CUresult const result = out == nullptr ? CUDA_ERROR_INVALID_VALUE : cpu::texture_find(nullptr, &its, texture);
    if (result == CUDA_SUCCESS) *out = to_runtime(its);
    return to_error(check_image_call(result, "cuTexObjectGetTextureDesc()"));
  });
}

// No texture has a view.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*, cudaTextureObject_t) {
  return call([&] { return to_error(check_image_call(CUDA_ERROR_INVALID_VALUE, "cuTexObjectGetResourceViewDesc()")); });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, cudaResourceDesc const* resource) {
  return call([&]() -> cudaError_t {
    if (out == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    CUDA_RESOURCE_DESC its{};
    if (cudaError_t const error = to_driver(*resource, its); error != cudaSuccess) return error;
    return to_error(create_surface(out, &its));
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return release_call([&] { return destroy_surface(surface); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t surface) {
  return call([&] {
    CUDA_RESOURCE_DESC its{};
    CUresult const result = out == nullptr ? CUDA_ERROR_INVALID_VALUE : cpu::surface_find(&its, surface);
    if (result == CUDA_SUCCESS) *out = to_runtime(its);
    return to_error(check_image_call(result, "cuSurfObjectGetResourceDesc()"));
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* texels, cudaChannelFormatDesc const* channels,
                                                 int device) {
  return call([&]() -> cudaError_t {
    CUarray_format format{};
    unsigned count = 0;
    if (texels == nullptr || channels == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    if (!to_driver(*channels, format, count)) return cudaErrorInvalidChannelDescriptor;
    *texels = cpu::kMaxLinearTexels;
    return cudaSuccess;
  });
}

}  // extern "C"
