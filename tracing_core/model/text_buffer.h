// TextBuffer: the growing buffer that all text is appended to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// A growing buffer of bytes with cheap appends. Never throws: if memory runs out, it drops text and truncated()
/// returns true. A derived class may provide its first storage. Single-thread.
class TextBuffer {
 public:
  TextBuffer() noexcept = default;
  TextBuffer(TextBuffer const&) = delete;
  TextBuffer& operator=(TextBuffer const&) = delete;
  ~TextBuffer() { release(); }

  char const* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }
  bool truncated() const noexcept { return truncated_; }

  void clear() noexcept { size_ = 0, truncated_ = false; }
  /// Drops the bytes from `size` on. REQUIRES: size <= size().
  void resize_down(std::size_t size) noexcept { size_ = size; }

  void append(std::string_view text) noexcept {
    if (char* end = reserve(text.size())) {
      std::memcpy(end, text.data(), text.size());
      size_ += text.size();
    }
  }
  void push_back(char c) noexcept {
    if (char* end = reserve(1)) {
      *end = c;
      ++size_;
    }
  }
  void append(std::size_t count, char c) noexcept {
    if (char* end = reserve(count)) {
      std::memset(end, c, count);
      size_ += count;
    }
  }
  /// Appends decimal digits, with a minus sign if `value` is negative.
  void append_int(std::int64_t value) noexcept;
  void append_uint(std::uint64_t value) noexcept;

  /// Returns room for `count` more bytes at the end, or null if memory runs out. commit() then adds the bytes to the
  /// text.
  char* reserve(std::size_t count) noexcept {
    if (capacity_ - size_ < count && !grow(count)) [[unlikely]]
      return nullptr;
    return data_ + size_;
  }
  void commit(std::size_t count) noexcept { size_ += count; }

 protected:
  TextBuffer(char* storage, std::size_t capacity) noexcept : data_(storage), capacity_(capacity) {}

 private:
  bool grow(std::size_t count) noexcept;
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool owned_ = false;
  bool truncated_ = false;
};

/// A TextBuffer whose first N bytes need no allocation.
template <std::size_t N>
class InlineTextBuffer : public TextBuffer {
 public:
  InlineTextBuffer() noexcept : TextBuffer(storage_, N) {}

 private:
  char storage_[N];
};

}}  // namespace tracing::v1
