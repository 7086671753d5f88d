// LineBuffer: the buffer in which a thread makes its lines.
#pragma once

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace internal {

// Constant-initialised and trivially destroyed, so that it is valid before a thread's first line and after its
// destructors.
struct ThreadLine {
  TextBuffer* buffer = nullptr;  // freed when the thread ends
  bool in_use = false;
  bool ended = false;
};

[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadLine thread_line;

// Borrows the thread's buffer and clears it. Makes another buffer if the thread's is in use (by a sink that prints) or
// gone (in a destructor at the thread's end).
class LineBuffer {
 public:
  LineBuffer() noexcept
      : buffer_(thread_line.in_use || thread_line.buffer == nullptr ? make_buffer() : thread_line.buffer) {
    if (buffer_ == nullptr) [[unlikely]]
      return;
    thread_line.in_use = true;
    buffer_->clear();
  }
  LineBuffer(LineBuffer const&) = delete;
  LineBuffer& operator=(LineBuffer const&) = delete;
  ~LineBuffer() {
    if (buffer_ != nullptr && buffer_ == thread_line.buffer && buffer_->size() <= kMaxKeptBytes) [[likely]] {
      thread_line.in_use = false;
    } else {
      release();
    }
  }

  /// Returns false if memory ran out.
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  TextBuffer& operator*() noexcept { return *buffer_; }
  TextBuffer* operator->() noexcept { return buffer_; }

 private:
  static constexpr std::size_t kMaxKeptBytes = 64 * 1024;

  static TextBuffer* make_buffer() noexcept;
  void release() noexcept;

  TextBuffer* const buffer_;
};

}}}  // namespace tracing::v1::internal
