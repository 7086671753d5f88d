// Declares Dim3, how many there are along each of three axes.
#pragma once

#include <cstdint>
#include <tuple>

namespace tracing::inline v1::cuda {

/// A grid's blocks or a block's threads; as a field it prints as `(4, 64, 1)`.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
  /// What to give a field.
  std::tuple<unsigned, unsigned, unsigned> fields() const noexcept { return {x, y, z}; }
  friend bool operator==(Dim3 const&, Dim3 const&) = default;
};

}  // namespace tracing::inline v1::cuda
