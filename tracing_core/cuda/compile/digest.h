// Digest: computes a 128-bit hash of a sequence of texts.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tracing_core/model/number_text.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// Computes a hash that depends on the lengths of the texts, not only on their concatenation. Not cryptographic. Reads
/// 8 bytes at a time.
class Digest {
 public:
  Digest& add(std::string_view text) noexcept {
    add(std::uint64_t{text.size()});
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 8))) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min<std::size_t>(text.size(), 8));
      add(word);
    }
    return *this;
  }
  // Applies a bijection of the state that depends on the number, so that a difference in one number is never lost.
  Digest& add(std::uint64_t number) noexcept {
    state_ = (state_ ^ number) * kFactor;
    state_ ^= state_ >> 64;
    return *this;
  }

  std::string hex() const { return fmt::format("{:032x}", state_ * kFactor); }

 private:
  static constexpr Uint128 kFactor = Uint128{0x9fb21c651e98df25} << 64 | 0xd6e8feb86659fd93;
  Uint128 state_ = Uint128{0x243f6a8885a308d3} << 64 | 0x13198a2e03707344;
};

}}}}  // namespace tracing::v1::cuda::internal
