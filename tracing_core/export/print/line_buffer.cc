#include "tracing_core/export/print/line_buffer.h"

#include <new>
#include <utility>

namespace tracing { inline namespace v1 { namespace internal {

constinit thread_local ThreadLine thread_line;

namespace {

using RoomyBuffer = InlineTextBuffer<1000>;

// Frees the thread's buffer when the thread ends. Used only on threads that make a buffer.
struct AtThreadEnd {
  ~AtThreadEnd() {
    delete static_cast<RoomyBuffer*>(std::exchange(thread_line.buffer, nullptr));
    thread_line.ended = true;
  }
};
thread_local AtThreadEnd at_thread_end;

}  // namespace

TextBuffer* LineBuffer::make_buffer() noexcept {
  auto* const made = new (std::nothrow) RoomyBuffer;
  if (made != nullptr && thread_line.buffer == nullptr && !thread_line.ended) {
    (void)&at_thread_end;
    thread_line.buffer = made;
  }
  return made;
}

void LineBuffer::release() noexcept {
  if (buffer_ == thread_line.buffer) {
    thread_line.in_use = false;
    thread_line.buffer = nullptr;
  }
  delete static_cast<RoomyBuffer*>(buffer_);
}

}}}  // namespace tracing::v1::internal
