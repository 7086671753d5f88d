// Declares LineBuffer, the buffer in which a thread makes its lines.
#pragma once

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// What a thread keeps: room that is there before the thread's first line and after its destructors.
struct ThreadLine {
  TextBuffer* buffer = nullptr;  // freed when the thread ends
  bool in_use = false;
  bool ended = false;
};

[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadLine thread_line;

// The thread's buffer while it lives, empty at first; another one where the thread's own is in use (a sink that prints) or
// gone (a destructor at the thread's end).
class LineBuffer {
 public:
  LineBuffer() noexcept : buffer_(thread_line.in_use || thread_line.buffer == nullptr ? other() : thread_line.buffer) {
    if (buffer_ == nullptr) [[unlikely]] return;
    thread_line.in_use = true;
    buffer_->clear();
  }
  LineBuffer(LineBuffer const&) = delete;
  LineBuffer& operator=(LineBuffer const&) = delete;
  ~LineBuffer() {
    if (buffer_ != nullptr && buffer_ == thread_line.buffer && buffer_->size() <= kMostKept) [[likely]] {
      thread_line.in_use = false;
    } else {
      give_back();
    }
  }

  /// False where memory ran out.
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  TextBuffer& operator*() noexcept { return *buffer_; }
  TextBuffer* operator->() noexcept { return buffer_; }

 private:
  static constexpr std::size_t kMostKept = 64 * 1024;

  static TextBuffer* other() noexcept;
  void give_back() noexcept;

  TextBuffer* const buffer_;
};

}  // namespace tracing::inline v1::internal
