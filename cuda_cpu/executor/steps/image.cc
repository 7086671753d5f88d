#include "cuda_cpu/executor/steps/image.h"

#include <algorithm>
#include <cmath>

#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

// Returns the index that a texture reads for the index `at` in a dimension of `size` texels; -1: the border.
std::int64_t addressed(std::int64_t at, std::int64_t size, Addressing mode) noexcept {
  auto const modulo = [at](std::int64_t period) { return (at % period + period) % period; };
  switch (mode) {
    case Addressing::wrap: return modulo(size);
    case Addressing::clamp: return std::clamp<std::int64_t>(at, 0, size - 1);
    case Addressing::mirror: return std::min(modulo(2 * size), 2 * size - 1 - modulo(2 * size));
    case Addressing::border: break;
  }
  return at >= 0 && at < size ? at : -1;
}

void set_index(Footprint::Part& part, Image const& image, unsigned dimension, std::int64_t at) noexcept {
  std::int64_t const index = addressed(at, image.size[dimension], image.addressing[dimension]);
  part.is_border = part.is_border || index < 0;
  part.at[dimension] = static_cast<std::uint32_t>(std::max<std::int64_t>(index, 0));
}

// Returns a coordinate in texels. Exact except for coordinates so large that their place in a texel is unknown.
double position(Image const& image, float coordinate, unsigned dimension) noexcept {
  constexpr double kFar = 0x1p48;
  double const scaled = static_cast<double>(coordinate) * (image.normalized_coordinates ? image.size[dimension] : 1);
  return std::isnan(scaled) ? 0 : std::clamp(scaled, -kFar, kFar);
}

Footprint filtered(Image const& image, std::array<float, 3> const& coordinates, unsigned dimensions) noexcept {
  Footprint made;
  made.count = 1U << dimensions;
  for (unsigned dimension = 0; dimension < dimensions; ++dimension) {
    double const from_center = position(image, coordinates[dimension], dimension) - 0.5;
    double const below = std::floor(from_center);
    double const weight = std::floor((from_center - below) * 256 + 0.5) / 256;
    for (unsigned i = 0; i < made.count; ++i) {
      unsigned const upper = i >> dimension & 1;
      set_index(made.parts[i], image, dimension, static_cast<std::int64_t>(below) + upper);
      made.parts[i].weight *= static_cast<float>(upper != 0 ? weight : 1 - weight);
    }
  }
  return made;
}

float from_srgb(float value) noexcept {
  return value <= 0.04045F ? value / 12.92F : std::pow((value + 0.055F) / 1.055F, 2.4F);
}

}  // namespace

Footprint footprint_of(Image const& image, std::array<float, 3> const& coordinates, unsigned dimensions) noexcept {
  if (image.filters) return filtered(image, coordinates, dimensions);
  Footprint made;
  for (unsigned i = 0; i < dimensions; ++i)
    set_index(made.parts[0], image, i, static_cast<std::int64_t>(std::floor(position(image, coordinates[i], i))));
  return made;
}

Footprint footprint_of(Image const& image, std::array<std::int32_t, 3> const& index, unsigned dimensions) noexcept {
  Footprint made;
  for (unsigned i = 0; i < dimensions; ++i) set_index(made.parts[0], image, i, index[i]);
  return made;
}

Footprint gathered(Image const& image, std::array<float, 3> const& coordinates) noexcept {
  constexpr std::array<unsigned, 4> kOrder{2, 3, 1, 0};  // counterclockwise, from the next row
  Footprint const all = filtered(image, coordinates, 2);
  Footprint made;
  made.count = 4;
  for (unsigned i = 0; i < 4; ++i) made.parts[i] = all.parts[kOrder[i]];
  return made;
}

// Implements the table in "Cubemap Textures" of the guide.
CubePlace cube_place_of(std::array<float, 3> const& direction) noexcept {
  auto const [x, y, z] = direction;
  float const longest = std::max({std::fabs(x), std::fabs(y), std::fabs(z)});
  unsigned const axis = std::fabs(x) == longest ? 0 : std::fabs(y) == longest ? 1 : 2;
  bool const is_negative = direction[axis] < 0;
  float const s = axis == 0 ? (is_negative ? z : -z) : axis == 2 && is_negative ? -x : x;
  float const t = axis == 1 ? (is_negative ? -z : z) : -y;
  return {static_cast<std::int32_t>(2 * axis + (is_negative ? 1 : 0)),
          {(s / longest + 1) / 2, (t / longest + 1) / 2, 0}};
}

Texel decoded(Image const& image, Texel const& bits) noexcept {
  Texel made{};
  unsigned const width = 8 * image.channel_bytes;
  for (unsigned i = 0; i < image.channels; ++i) {
    auto const extended = static_cast<std::int32_t>(bits[i] << (32 - width)) >> (32 - width);
    bool const is_signed = image.channel == Channel::signed_integer;
    made[i] = is_signed ? static_cast<std::uint32_t>(extended) : bits[i];
    if (image.channel == Channel::floating) {
      if (width == 16) made[i] = bits_of(half_to_float(static_cast<std::uint16_t>(bits[i])));
    } else if (image.reads_normalized && width < 32) {
      float const most = static_cast<float>((1U << (is_signed ? width - 1 : width)) - 1);
      float const value =
          is_signed ? std::max(static_cast<float>(extended) / most, -1.0F) : static_cast<float>(bits[i]) / most;
      made[i] = bits_of(image.decodes_srgb && width == 8 && i < 3 ? from_srgb(value) : value);
    }
  }
  return made;
}

}  // namespace cuda_cpu
