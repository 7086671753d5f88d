// LaunchRing: keeps the outstanding launches of one stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/cuda/launch.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Keeps the outstanding launches of one stream, in the order in which they were added. Allocates only to hold more
/// launches than ever before, and for the first launch that has a span. Thread-compatible.
class LaunchRing {
 public:
  /// The facts about a launch that are known before its call.
  struct New {
    LaunchId id = 0;
    Dim3 grid;
    Dim3 block;
  };
  struct Spans {
    Span span;
    Span perf;
  };

  explicit LaunchRing(std::uint64_t stream) noexcept : stream_(stream) {}

  std::uint64_t stream() const noexcept { return stream_; }
  std::size_t size() const noexcept { return size_; }
  /// Returns the number of launch `i`, counted from the oldest.
  LaunchId id(std::size_t i) const noexcept { return entries_[slot(i)].launch.id; }

  /// Adds a launch. `ticks` is a reading of the spans' clock, which is cheaper to read than the clock of Launch::at.
  void push(New const& launch, std::string_view kernel, std::uint64_t ticks, Span&& span, Span&& perf);
  /// Removes the oldest launch and returns its spans. REQUIRES: size() > 0.
  Spans pop() noexcept;
  /// Marks a launch as accepted. Does nothing if the launch is not here. REQUIRES: mark != 0.
  void accept(LaunchId launch, std::uint64_t mark) noexcept;
  /// Removes and returns a launch. Its id is 0 if the launch is not here.
  Launch remove(LaunchId launch) noexcept;
  /// Removes the launches that were accepted up to `mark`. Appends to `removed` all of them or, if not `all`, only
  /// launches that have a span or a perf span. Returns how many launches were removed.
  std::size_t remove_up_to(std::uint64_t mark, bool all, std::vector<Launch>& removed);
  /// Calls `f(Launch const&)`. Does not allocate.
  template <class F>
  void visit(std::size_t i, F&& f) {
    Launch launch = take(slot(i), Moment::now());
    f(std::as_const(launch));
    if (!spans_.empty()) spans_[slot(i)] = {std::move(launch.span), std::move(launch.perf)};
  }

 private:
  // Takes one cache line. Spans are kept elsewhere, since most programs do not have them most of the time.
  struct alignas(64) Entry {
    New launch;
    std::string_view kernel;
    std::uint64_t ticks = 0;
    std::uint64_t accepted_at = 0;  // zero: its call has not returned
  };
  // A time by both clocks.
  struct Moment {
    std::chrono::steady_clock::time_point time;
    std::uint64_t ticks = 0;
    static Moment now() noexcept { return {std::chrono::steady_clock::now(), tracing::support::ticks_now()}; }
  };

  std::size_t slot(std::size_t i) const noexcept { return (first_ + i) & (entries_.size() - 1); }
  /// Returns the index of a launch; size() if it is not here.
  std::size_t find(LaunchId launch) const noexcept;
  /// Returns the launch of a slot, with its spans moved out.
  Launch take(std::size_t slot, Moment const& now) noexcept;
  void move(std::size_t from, std::size_t to) noexcept;
  void grow();

  std::uint64_t stream_;
  std::size_t first_ = 0;  // the slot of the oldest launch
  std::size_t size_ = 0;
  std::vector<Entry> entries_;  // by slot; its size is a power of two
  std::vector<Spans> spans_;    // by slot; empty until a launch has a span
};

}}}  // namespace tracing::v1::cuda
