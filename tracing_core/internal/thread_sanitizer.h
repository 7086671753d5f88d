// What ThreadSanitizer is told of the library's own synchronization.
//
// A statement that is reached for the first time, the first record of a thread and the end of the thread take locks. To the
// sanitizer, each lock orders the thread after everything that the thread before had done until then, so a race of the
// program would not be found if it lay around a statement. The program does not rely on these locks, so the sanitizer is
// told to ignore them. Without the sanitizer all functions do nothing, and cost a load and a branch.
#pragma once

namespace tracing::inline v1::internal {

/// True in a program that runs under ThreadSanitizer, even if the library was built without it.
bool is_under_tsan() noexcept;

void begin_unseen_by_tsan() noexcept;
void end_unseen_by_tsan() noexcept;

/// During its lifetime ThreadSanitizer ignores what the calling thread does: it orders no threads, and is no access that may
/// race. For code that uses data under a lock of the library, and calls no code that relies on other orders.
class UnseenByTsan {
 public:
  UnseenByTsan() noexcept { begin_unseen_by_tsan(); }
  UnseenByTsan(UnseenByTsan const&) = delete;
  UnseenByTsan& operator=(UnseenByTsan const&) = delete;
  ~UnseenByTsan() { end_unseen_by_tsan(); }
};

/// Orders for ThreadSanitizer the calls of tsan_acquire() with this address after those of tsan_release() before: for memory
/// that passes from one thread to another under a lock that the sanitizer ignores.
void tsan_release(void const* address) noexcept;
void tsan_acquire(void const* address) noexcept;

}  // namespace tracing::inline v1::internal
