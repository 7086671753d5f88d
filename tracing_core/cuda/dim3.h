// Dim3: the extent of a grid or a block.
#pragma once

#include <cstdint>
#include <tuple>

namespace tracing::inline v1::cuda {

/// A number of blocks or threads along each of three axes. Recorded as a field it prints as `(4, 64, 1)`; see fields().
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
  /// The value of a field.
  std::tuple<unsigned, unsigned, unsigned> fields() const noexcept { return {x, y, z}; }
  friend bool operator==(Dim3 const&, Dim3 const&) = default;
};

}  // namespace tracing::inline v1::cuda
