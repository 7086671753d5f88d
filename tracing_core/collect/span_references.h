// SpanReferences: counts the references that keep a span open.
//
// It counts handles and open children together, and separately the entries of threads that entered the span by a
// handle, since the handle may go away before the thread leaves the span. Both counts are in one word, so that exactly
// one operation finds nothing left.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace internal {

class SpanReferences {
 public:
  /// Resets to one handle, with no thread in the span.
  void reset() noexcept { counts_.store(1, std::memory_order_relaxed); }
  /// Adds a handle. REQUIRES: the caller has a handle, or the calling thread is in the span.
  void add() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a handle. Returns true if nothing is left: the caller then closes the span.
  bool drop() noexcept {
    // If only the caller's handle is left, no read-modify-write is needed: no other thread can add anything.
    std::uint64_t const left =
        counts_.load(std::memory_order_relaxed) == 1 ? 0 : counts_.fetch_sub(1, std::memory_order_release) - 1;
    bool const is_last = (left & kLoose) != 0 ? (left & kHandles) == 0 : left == 0;
    if (is_last)
      (void)counts_.load(std::memory_order_acquire);  // acquires only now: threads that use a span need no
                                                      // order
    return is_last;
  }

  /// Adds the entry of a thread that enters by a handle.
  void enter() noexcept { counts_.fetch_add(kEntry, std::memory_order_relaxed); }
  /// Drops an entry. Returns true if nothing is left: the caller then closes the span.
  bool leave() noexcept {
    std::uint64_t const left = counts_.fetch_sub(kEntry, std::memory_order_release) - kEntry;
    bool const is_last = (left & ~kLoose) == 0;
    if (is_last) (void)counts_.load(std::memory_order_acquire);
    return is_last;
  }
  /// True if a thread is in the span by a handle.
  bool has_entries() const noexcept { return counts_.load(std::memory_order_relaxed) >= kEntry; }
  /// Forgets an entry of a thread that does not exist in a forked child.
  void forget_entry() noexcept { counts_.fetch_sub(kEntry, std::memory_order_relaxed); }
  /// Handles the error that a guard ended on another thread than its own: the span then closes with its last handle.
  void loosen() noexcept { counts_.fetch_or(kLoose, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kEntry = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kHandles = kEntry - 1;
  static constexpr std::uint64_t kLoose = std::uint64_t{1} << 63;

  std::atomic<std::uint64_t> counts_{1};
};

}}}  // namespace tracing::v1::internal
