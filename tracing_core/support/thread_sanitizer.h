// Hides the library's own synchronization from ThreadSanitizer.
//
// The first time a statement is reached, the first record of a thread and the end of a thread take locks. To the
// sanitizer, each lock orders the thread after everything that the previous holder of the lock had done until then. A
// race of the program around a statement would therefore not be found. The program does not rely on these locks, so the
// sanitizer is told to ignore them. Without the sanitizer these functions do nothing, and cost a load and a branch.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// True in a program that runs under ThreadSanitizer, even if the library was built without it.
bool is_under_tsan() noexcept;

void begin_unseen_by_tsan() noexcept;
void end_unseen_by_tsan() noexcept;

/// While it exists, ThreadSanitizer ignores what the calling thread does: its locks do not order threads, and the
/// sanitizer reports no race for its accesses. For code that uses data under a lock of the library, and calls no code
/// that relies on other synchronization.
class UnseenByTsan {
 public:
  UnseenByTsan() noexcept { begin_unseen_by_tsan(); }
  UnseenByTsan(UnseenByTsan const&) = delete;
  UnseenByTsan& operator=(UnseenByTsan const&) = delete;
  ~UnseenByTsan() { end_unseen_by_tsan(); }
};

/// Tells ThreadSanitizer that a tsan_acquire() with this address comes after the earlier tsan_release() calls with it.
/// For memory that passes from one thread to another under a lock that the sanitizer ignores.
void tsan_release(void const* address) noexcept;
void tsan_acquire(void const* address) noexcept;

}}}  // namespace tracing::v1::support
