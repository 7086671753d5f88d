// SpanReferences: what keeps a span open.
//
// Counted are its handles with its open children, and apart from them the entries of threads that entered it by a handle, which
// may go away before the thread leaves the span. Both are in one word, so that exactly one operation leaves nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace tracing::inline v1::internal {

class SpanReferences {
 public:
  /// One handle, and no thread is in it.
  void reset() noexcept { counts_.store(1, std::memory_order_relaxed); }
  /// REQUIRES: the caller has a handle, or the calling thread is in the span.
  void add() noexcept { counts_.fetch_add(1, std::memory_order_relaxed); }
  /// The end of a handle. True if nothing is left: the caller closes the span.
  bool drop() noexcept {
    // The owner of all that is left needs no read-modify-write: no other thread can add anything.
    std::uint64_t const left = counts_.load(std::memory_order_relaxed) == 1
                                   ? 0
                                   : counts_.fetch_sub(1, std::memory_order_release) - 1;
    bool const is_last = (left & kLoose) != 0 ? (left & kHandles) == 0 : left == 0;
    if (is_last) (void)counts_.load(std::memory_order_acquire);  // only now: threads that use a span need no order
    return is_last;
  }

  /// A thread enters by a handle.
  void enter() noexcept { counts_.fetch_add(kEntry, std::memory_order_relaxed); }
  /// True if nothing is left: the caller closes the span.
  bool leave() noexcept {
    std::uint64_t const left = counts_.fetch_sub(kEntry, std::memory_order_release) - kEntry;
    bool const is_last = (left & ~kLoose) == 0;
    if (is_last) (void)counts_.load(std::memory_order_acquire);
    return is_last;
  }
  /// False if no thread is in the span by a handle.
  bool has_entries() const noexcept { return counts_.load(std::memory_order_relaxed) >= kEntry; }
  /// Forgets an entry of a thread that does not exist in a forked child.
  void forget_entry() noexcept { counts_.fetch_sub(kEntry, std::memory_order_relaxed); }
  /// A guard ended on a thread other than its own, which is not allowed: the span closes with its last handle.
  void loosen() noexcept { counts_.fetch_or(kLoose, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kEntry = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kHandles = kEntry - 1;
  static constexpr std::uint64_t kLoose = std::uint64_t{1} << 63;

  std::atomic<std::uint64_t> counts_{1};
};

}  // namespace tracing::inline v1::internal
