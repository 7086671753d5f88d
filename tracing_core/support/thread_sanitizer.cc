#include "tracing_core/support/thread_sanitizer.h"

// Parts of the sanitizer's runtime, which exist if the executable was linked with it. The Annotate functions are its
// dynamic annotations; other libraries may define functions of these names that do nothing.
extern "C" {
[[gnu::weak]] void AnnotateIgnoreSyncBegin(char const* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncEnd(char const* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(char const* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(char const* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(char const* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(char const* file, int line);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace tracing { inline namespace v1 { namespace support {

bool is_under_tsan() noexcept {
  return __tsan_acquire != nullptr && __tsan_release != nullptr && AnnotateIgnoreSyncBegin != nullptr &&
         AnnotateIgnoreReadsBegin != nullptr && AnnotateIgnoreWritesBegin != nullptr;
}

void begin_unseen_by_tsan() noexcept {
  if (!is_under_tsan()) [[likely]]
    return;
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void end_unseen_by_tsan() noexcept {
  if (!is_under_tsan()) [[likely]]
    return;
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

void tsan_release(void const* address) noexcept {
  if (is_under_tsan()) [[unlikely]]
    __tsan_release(const_cast<void*>(address));
}

void tsan_acquire(void const* address) noexcept {
  if (is_under_tsan()) [[unlikely]]
    __tsan_acquire(const_cast<void*>(address));
}

}}}  // namespace tracing::v1::support
