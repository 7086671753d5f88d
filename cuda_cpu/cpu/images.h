// Textures and surfaces of the user, and the formats of their channels.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "cuda_cpu/executor/image.h"

namespace cuda_cpu::cpu {

/// A texture or surface object. Does not keep its memory allocated, as on a GPU.
struct ImageObject {
  std::shared_ptr<Image const> image;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};  // of a texture
};

struct ChannelFormat {
  Channel channel = Channel::unsigned_integer;
  std::uint32_t bytes = 0;
};
/// None for a format that does not exist here.
std::optional<ChannelFormat> find_format(CUarray_format format) noexcept;
/// Whether a texel may have so many channels.
constexpr bool is_channel_count(unsigned count) noexcept { return count == 1 || count == 2 || count == 4; }

}  // namespace cuda_cpu::cpu
