// TargetPrefix: a prefix of targets that is fast to test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace internal {

/// A target that is tested against many prefixes. Its first eight bytes are in a register.
class TargetKey {
 public:
  explicit TargetKey(std::string_view target) noexcept : text_(target) {
    target.copy(reinterpret_cast<char*>(&head_), sizeof head_);
  }

  std::string_view text() const noexcept { return text_; }

 private:
  friend class TargetPrefix;
  std::string_view text_;
  std::uint64_t head_ = 0;
};

/// The first eight bytes of a prefix that a directive requires. They rule out almost all other targets.
class TargetPrefix {
 public:
  explicit TargetPrefix(std::string_view prefix) noexcept {
    std::size_t const count = prefix.copy(reinterpret_cast<char*>(&head_), sizeof head_);
    std::memset(&mask_, 0xFF, count);
  }

  /// Returns false if the target certainly does not begin with the prefix.
  bool may_begin(TargetKey const& key) const noexcept { return (key.head_ & mask_) == head_; }

 private:
  std::uint64_t head_ = 0;
  std::uint64_t mask_ = 0;
};

}}}  // namespace tracing::v1::internal
