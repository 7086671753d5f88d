// Declares textures and surfaces of the user, and the formats of their channels.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "cuda_cpu/executor/steps/image.h"

namespace cuda_cpu::cpu {

/// A texture or surface object. Like a GPU, does not keep its memory allocated.
struct ImageObject {
  std::shared_ptr<Image const> image;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};  // only for a texture
};

struct ChannelFormat {
  Channel channel = Channel::unsigned_integer;
  std::uint32_t bytes = 0;
};
/// Returns nothing for a format that is not supported.
std::optional<ChannelFormat> find_format(CUarray_format format) noexcept;
/// Returns true if a texel may have so many channels.
constexpr bool is_channel_count(unsigned count) noexcept { return count == 1 || count == 2 || count == 4; }

}  // namespace cuda_cpu::cpu
