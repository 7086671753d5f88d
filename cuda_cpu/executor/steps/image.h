// Image describes the memory that the handle of a texture or a surface refers to. Textures are read as the CUDA C++
// Programming Guide says in "Texture Fetching".
#pragma once

#include <array>
#include <cstdint>

namespace cuda_cpu {

enum class Channel : std::uint8_t { unsigned_integer, signed_integer, floating };

/// Says where a texture reads for a coordinate outside of it. In the order of CUaddress_mode.
enum class Addressing : std::uint8_t { wrap, clamp, mirror, border };

/// Up to four channels: integers, or the bits of floats.
using Texel = std::array<std::uint32_t, 4>;

/// Texels in rows, in memory of the device. Immutable while kernels use it.
struct Image {
  bool is_surface = false;
  bool is_linear_memory = false;  // a single row, which is read by index only
  std::uintptr_t memory = 0;
  std::array<std::uint32_t, 3> size{1, 1, 1};  // in texels
  std::uint32_t layers = 1;
  std::uint64_t row_pitch = 0;    // in bytes
  std::uint64_t slice_pitch = 0;  // of slices or layers
  Channel channel = Channel::unsigned_integer;
  std::uint32_t channel_bytes = 4;
  std::uint32_t channels = 1;

  // The members below are for textures.
  std::array<Addressing, 3> addressing{Addressing::clamp, Addressing::clamp, Addressing::clamp};
  bool filters = false;  // interpolates linearly, between texels that are floats or become floats
  bool normalized_coordinates = false;
  bool reads_normalized = false;  // integers of 8 or 16 bits become floats in [0, 1] or [-1, 1]
  bool decodes_srgb = false;      // decodes integers of 8 bits, except the fourth channel
  Texel border{};

  std::uint32_t texel_bytes() const noexcept { return channel_bytes * channels; }
};

/// The texels that one read of a texture blends, with their weights.
struct Footprint {
  struct Part {
    std::array<std::uint32_t, 3> at{};
    bool is_border = false;
    float weight = 1;
  };
  std::array<Part, 8> parts;
  unsigned count = 1;
};

/// Returns the texels for the first `dimensions` of `coordinates`; in other dimensions the first texel is read. Weights
/// are multiples of 1/256 in each dimension, rounded to nearest.
Footprint footprint_of(Image const& image, std::array<float, 3> const& coordinates, unsigned dimensions) noexcept;
/// Returns the texel of an index.
Footprint footprint_of(Image const& image, std::array<std::int32_t, 3> const& index, unsigned dimensions) noexcept;
/// Returns the four texels that a linear filter in two dimensions would read, in the order of tld4.
Footprint gathered(Image const& image, std::array<float, 3> const& coordinates) noexcept;

/// The place at which a cubemap is read for a direction: a face, and normalized coordinates in it.
struct CubePlace {
  std::int32_t face = 0;
  std::array<float, 3> coordinates{};
};
CubePlace cube_place_of(std::array<float, 3> const& direction) noexcept;

/// Returns the texel that a texture reads if its channels have these bits in memory. Missing channels are zero.
Texel decoded(Image const& image, Texel const& bits) noexcept;

}  // namespace cuda_cpu
