// TargetPrefix: a prefix of targets that is fast to test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tracing::inline v1::internal {

/// A target to be tested against many prefixes, its first eight bytes in a register.
class TargetKey {
 public:
  explicit TargetKey(std::string_view target) noexcept : text_(target) {
    std::memcpy(&head_, target.data(), target.size() < sizeof head_ ? target.size() : sizeof head_);
  }

 private:
  friend class TargetPrefix;
  std::string_view text_;
  std::uint64_t head_ = 0;
};

/// A prefix that a directive requires. Does not own the text.
class TargetPrefix {
 public:
  TargetPrefix() noexcept = default;  ///< a prefix of every target
  explicit TargetPrefix(std::string_view prefix) noexcept : data_(prefix.data()), size_(prefix.size()) {
    std::size_t const count = size_ < sizeof head_ ? size_ : sizeof head_;
    std::memcpy(&head_, data_, count);
    std::memset(&mask_, 0xFF, count);
  }

  bool begins(TargetKey const& key) const noexcept {
    if ((key.head_ & mask_) != head_ || key.text_.size() < size_) return false;
    return size_ <= sizeof head_ ||
           std::memcmp(key.text_.data() + sizeof head_, data_ + sizeof head_, size_ - sizeof head_) == 0;
  }

 private:
  std::uint64_t head_ = 0;
  std::uint64_t mask_ = 0;
  char const* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tracing::inline v1::internal
