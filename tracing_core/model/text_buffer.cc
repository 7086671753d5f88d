#include "tracing_core/model/text_buffer.h"

#include <algorithm>
#include <cstdlib>

#include "tracing_core/support/digits.h"

namespace tracing { inline namespace v1 {

void TextBuffer::append_int(std::int64_t value) noexcept {
  char* const begin = reserve(1 + support::kMaxUintDigits);
  if (begin == nullptr) return;
  char* at = begin;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) {
    *at++ = '-';
    magnitude = -magnitude;
  }
  size_ += static_cast<std::size_t>(support::write_uint(at, magnitude) - begin);
}

void TextBuffer::append_uint(std::uint64_t value) noexcept {
  if (char* const begin = reserve(support::kMaxUintDigits))
    size_ += static_cast<std::size_t>(support::write_uint(begin, value) - begin);
}

bool TextBuffer::grow(std::size_t count) noexcept {
  bool const overflows = size_ + count < size_;
  std::size_t const wanted = std::max({capacity_ * 2, size_ + count, std::size_t{256}});
  auto* fresh = overflows ? nullptr : static_cast<char*>(owned_ ? std::realloc(data_, wanted) : std::malloc(wanted));
  if (fresh == nullptr) {
    truncated_ = true;
    return false;
  }
  if (!owned_ && size_ != 0) std::memcpy(fresh, data_, size_);
  data_ = fresh;
  capacity_ = wanted;
  owned_ = true;
  return true;
}

void TextBuffer::release() noexcept {
  if (owned_) std::free(data_);
}

}}  // namespace tracing::v1
