#include "tracing_core/model/text_buffer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace tracing::inline v1 {

void TextBuffer::append_int(std::int64_t value) noexcept {
  constexpr std::size_t kLongest = 20;
  if (char* end = reserve(kLongest)) {
    size_ += static_cast<std::size_t>(std::to_chars(end, end + kLongest, value).ptr - end);
  }
}

void TextBuffer::append_uint(std::uint64_t value) noexcept {
  constexpr std::size_t kLongest = 20;
  if (char* end = reserve(kLongest)) {
    size_ += static_cast<std::size_t>(std::to_chars(end, end + kLongest, value).ptr - end);
  }
}

bool TextBuffer::grow(std::size_t count) noexcept {
  std::size_t const wanted = std::max({capacity_ * 2, size_ + count, std::size_t{256}});
  auto* fresh = static_cast<char*>(owned_ ? std::realloc(data_, wanted) : std::malloc(wanted));
  if (fresh == nullptr || size_ + count < size_) {
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

}  // namespace tracing::inline v1
