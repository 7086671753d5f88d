// align(): pairs the elements of two sequences, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace testlog::why {

struct Aligned {
  std::uint64_t exact = 0;  ///< equal for elements that are equal
  std::uint64_t alike = 0;  ///< equal for elements that may be paired though they differ
  std::uint32_t weight = 1;
};

/// Returns pairs of indices, both increasing. First pairs equal elements, of a weight as large as possible; then,
/// between these pairs, elements that are alike. The k-th of several equal elements pairs only with the k-th of the
/// other sequence, so it takes O(n log n).
std::vector<std::pair<std::size_t, std::size_t>> align(std::span<Aligned const> a, std::span<Aligned const> b);

}  // namespace testlog::why
