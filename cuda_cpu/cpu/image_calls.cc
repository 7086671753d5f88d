// Implements the calls that make textures and surfaces.
#include <fmt/format.h>

#include <bit>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/images.h"

namespace cuda_cpu::cpu {
namespace {

constexpr std::size_t kAlignment = DeviceMemory::kAlignment;  // of memory that becomes a texture

CUresult set_texels(Image& image, CUarray_format format, unsigned channels) {
  auto const found = find_format(format);
  if (!found || !is_channel_count(channels))
    return refuse(CUDA_ERROR_INVALID_VALUE, "texels must be 1, 2 or 4 integers, halves or floats");
  image.channel = found->channel;
  image.channel_bytes = found->bytes;
  image.channels = channels;
  return CUDA_SUCCESS;
}

CUresult set_memory(Device& device, Image& image, CUdeviceptr begin, std::uint64_t bytes) {
  if (begin % kAlignment != 0)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("the memory of a texture at {:#x} is not aligned to {} bytes", begin, kAlignment));
  if (begin == 0 || !device.memory.find(begin, bytes))
    return refuse(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("the memory of a texture, {} bytes at {:#x}, is not within one allocation", bytes, begin));
  image.memory = begin;
  return CUDA_SUCCESS;
}

CUresult from_array(Device& device, CUarray handle, Image& image) {
  auto const array = device.arrays.find(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto const& its = array->descriptor;
  bool const has_layers = (its.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  if (image.is_surface && (its.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the array of a surface was created without cudaArraySurfaceLoadStore");
  auto const slices = static_cast<std::uint32_t>(array->slices());
  image.memory = array->memory;
  image.size = {static_cast<std::uint32_t>(its.Width), static_cast<std::uint32_t>(array->rows()),
                has_layers ? 1 : slices};
  image.layers = has_layers ? slices : 1;
  image.row_pitch = array->row_bytes();
  image.slice_pitch = image.row_pitch * array->rows();
  return set_texels(image, its.Format, its.NumChannels);
}

CUresult from_linear(Device& device, CUDA_RESOURCE_DESC const& resource, Image& image) {
  auto const& its = resource.res.linear;
  if (CUresult const result = set_texels(image, its.format, its.numChannels); result != CUDA_SUCCESS) return result;
  auto const texels = its.sizeInBytes / image.texel_bytes();
  if (texels == 0 || texels > kMaxLinearTexels)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("a texture of {} texels in linear memory; expected 1 to {}", texels, kMaxLinearTexels));
  image.is_linear_memory = true;
  image.size = {static_cast<std::uint32_t>(texels), 1, 1};
  return set_memory(device, image, its.devPtr, its.sizeInBytes);
}

CUresult from_pitched(Device& device, CUDA_RESOURCE_DESC const& resource, Image& image) {
  auto const& its = resource.res.pitch2D;
  if (CUresult const result = set_texels(image, its.format, its.numChannels); result != CUDA_SUCCESS) return result;
  if (its.width == 0 || its.height == 0 || its.width > kMaxTextureSide || its.height > kMaxTextureSide)
    return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t const row_bytes = its.width * image.texel_bytes();
  if (its.pitchInBytes < row_bytes || its.pitchInBytes % kTexturePitchAlignment != 0) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("the pitch of a texture is {}; expected a multiple of {} not less than {}",
                              its.pitchInBytes, kTexturePitchAlignment, row_bytes));
  }
  image.size = {static_cast<std::uint32_t>(its.width), static_cast<std::uint32_t>(its.height), 1};
  image.row_pitch = its.pitchInBytes;
  return set_memory(device, image, its.devPtr, (its.height - 1) * its.pitchInBytes + row_bytes);
}

CUresult from_resource(Device& device, CUDA_RESOURCE_DESC const& resource, Image& image) {
  if (resource.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: return from_array(device, resource.res.array.hArray, image);
    case CU_RESOURCE_TYPE_LINEAR: return from_linear(device, resource, image);
    case CU_RESOURCE_TYPE_PITCH2D: return from_pitched(device, resource, image);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "mipmapped arrays are not supported");
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_reading(CUDA_TEXTURE_DESC const& texture, Image& image) {
  bool const is_linear = texture.filterMode == CU_TR_FILTER_MODE_LINEAR;
  if (!is_linear && texture.filterMode != CU_TR_FILTER_MODE_POINT) return CUDA_ERROR_INVALID_VALUE;
  image.reads_normalized =
      (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0 && image.channel != Channel::floating && image.channel_bytes < 4;
  image.decodes_srgb = (texture.flags & CU_TRSF_SRGB) != 0 && image.channel == Channel::unsigned_integer;
  if (image.is_linear_memory) {  // zero outside; the descriptor's modes are ignored
    image.addressing.fill(Addressing::border);
    return CUDA_SUCCESS;
  }
  bool const is_seamless = (texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  if (is_seamless && is_linear)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "linear filtering across the edges of cubemaps is not supported");
  if (is_linear && image.channel != Channel::floating && !image.reads_normalized)
    return refuse(CUDA_ERROR_INVALID_VALUE, "linear filtering of integers that are not read as normalized floats");
  image.filters = is_linear;
  image.normalized_coordinates = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (texture.addressMode[i] < CU_TR_ADDRESS_MODE_WRAP || texture.addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
      return CUDA_ERROR_INVALID_VALUE;
    auto const mode = static_cast<Addressing>(texture.addressMode[i]);
    if (is_seamless) continue;  // it clamps
    bool const needs_normalized = mode == Addressing::wrap || mode == Addressing::mirror;
    image.addressing[i] = needs_normalized && !image.normalized_coordinates ? Addressing::clamp : mode;
  }
  for (unsigned i = 0; i < 4; ++i) image.border[i] = std::bit_cast<std::uint32_t>(texture.borderColor[i]);
  return CUDA_SUCCESS;
}

CUresult find_descriptors(Handles<ImageObject> const& all, std::uint64_t handle, CUDA_RESOURCE_DESC* resource,
                          CUDA_TEXTURE_DESC* texture) {
  auto const object = all.find(std::uintptr_t{handle});
  if (object == nullptr || (resource == nullptr && texture == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  if (resource != nullptr) *resource = object->resource;
  if (texture != nullptr) *texture = object->texture;
  return CUDA_SUCCESS;
}

}  // namespace

std::shared_ptr<Image const> Device::find_image(std::uint64_t handle) const {
  auto object = textures.find(std::uintptr_t{handle});
  if (object == nullptr) object = surfaces.find(std::uintptr_t{handle});
  return object == nullptr ? nullptr : object->image;
}

CUresult texture_create(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view) {
  return in_context([&](Device& device) -> CUresult {
    if (out == nullptr || resource == nullptr || texture == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (view != nullptr) return refuse(CUDA_ERROR_NOT_SUPPORTED, "resource views are not supported");
    Image image;
    if (CUresult const result = from_resource(device, *resource, image); result != CUDA_SUCCESS) return result;
    if (CUresult const result = set_reading(*texture, image); result != CUDA_SUCCESS) return result;
    *out = device.textures.add(
        std::make_shared<ImageObject>(ImageObject{std::make_shared<Image const>(image), *resource, *texture}));
    return CUDA_SUCCESS;
  });
}

CUresult texture_destroy(CUtexObject handle) {
  return in_context([&](Device& device) {
    return device.textures.take(std::uintptr_t{handle}) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult texture_find(CUDA_RESOURCE_DESC* resource, CUDA_TEXTURE_DESC* texture, CUtexObject handle) {
  return in_context([&](Device& device) { return find_descriptors(device.textures, handle, resource, texture); });
}

CUresult surface_create(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource) {
  return in_context([&](Device& device) -> CUresult {
    if (out == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (resource->resType != CU_RESOURCE_TYPE_ARRAY)
      return refuse(CUDA_ERROR_INVALID_VALUE, "a surface needs an array");
    Image image;
    image.is_surface = true;
    if (CUresult const result = from_resource(device, *resource, image); result != CUDA_SUCCESS) return result;
    *out = device.surfaces.add(
        std::make_shared<ImageObject>(ImageObject{std::make_shared<Image const>(image), *resource, {}}));
    return CUDA_SUCCESS;
  });
}

CUresult surface_destroy(CUsurfObject handle) {
  return in_context([&](Device& device) {
    return device.surfaces.take(std::uintptr_t{handle}) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult surface_find(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return in_context([&](Device& device) { return find_descriptors(device.surfaces, handle, resource, nullptr); });
}

}  // namespace cuda_cpu::cpu
