// Digest: a 128-bit hash of a sequence of texts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tracing::inline v1::cuda::internal {

/// Depends on the lengths of the texts, not only on their concatenation. Not cryptographic. About 3 GB/s.
class Digest {
 public:
  Digest& add(std::string_view text) noexcept {
    mix(text.size());
    while (text.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data(), 8);
      mix(word);
      text.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
    mix(rest);
    return *this;
  }
  Digest& add(std::uint64_t number) noexcept {
    mix(number);
    return *this;
  }

  std::string hex() const {
    std::string text;
    for (std::uint64_t const lane : {finished(first_ ^ second_ >> 1), finished(second_ + first_)})
      for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[lane >> shift & 15];
    return text;
  }

 private:
  // Each step is a bijection of a lane that depends on the word, so that a difference in one word is never lost.
  void mix(std::uint64_t word) noexcept {
    first_ = (first_ ^ word) * 0x9fb21c651e98df25;
    first_ ^= first_ >> 32;
    second_ = (second_ + word) * 0xd6e8feb86659fd93;
    second_ = second_ << 29 | second_ >> 35;
  }
  static std::uint64_t finished(std::uint64_t x) noexcept {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
  }

  std::uint64_t first_ = 0x243f6a8885a308d3;
  std::uint64_t second_ = 0x13198a2e03707344;
};

}  // namespace tracing::inline v1::cuda::internal
