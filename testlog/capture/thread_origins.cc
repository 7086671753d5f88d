#include "testlog/capture/thread_origins.h"

#include "tracing_core/support/process_stat.h"
#include "tracing_core/support/thread_info.h"

namespace testlog { inline namespace v1 {
namespace {

using Moment = ThreadOrigins::Moment;

constexpr unsigned kThreadBits = 24;  // Linux has at most 2^22 threads
constexpr std::int64_t kThreadMask = (std::int64_t{1} << kThreadBits) - 1;

constexpr std::uint64_t packed(Moment moment) noexcept {
  return moment.ticks << kThreadBits | static_cast<std::uint64_t>(moment.thread & kThreadMask);
}

// Returns true if the thread of `moment` was started after the thread of `border`. If the system does not number
// threads, returns true for any border of the same tick.
constexpr bool is_after(Moment moment, std::uint64_t border) noexcept {
  constexpr std::int64_t kMaxInOneTick = 1 << 13;  // a greater difference means that the numbers have wrapped around
  if (moment.ticks != border >> kThreadBits) return moment.ticks > border >> kThreadBits;
  std::int64_t const last = static_cast<std::int64_t>(border) & kThreadMask;
  std::int64_t const difference = moment.thread - last;
  if (last == 0) return true;
  return (difference > 0) == (-kMaxInOneTick < difference && difference < kMaxInOneTick);
}

}  // namespace

Moment ThreadOrigins::now() noexcept {
  return {tracing::support::clock_ticks_now(), tracing::support::last_started_task()};
}

std::optional<Moment> ThreadOrigins::of_this_thread() noexcept {
  auto const stat = tracing::support::stat_of_this_thread();
  if (!stat || stat->start == 0) return std::nullopt;
  return Moment{stat->start, tracing::support::this_thread_info().os_thread};
}

void ThreadOrigins::begin_test(std::uint32_t test, Moment now) noexcept {
  Test& begun = tests_[test % kTests];
  begun.end.store(0, std::memory_order_relaxed);
  begun.begin.store(packed(now), std::memory_order_relaxed);
  last_.store(test, std::memory_order_relaxed);
}

void ThreadOrigins::end_test(Moment now) noexcept {
  tests_[last_.load(std::memory_order_relaxed) % kTests].end.store(packed(now), std::memory_order_relaxed);
}

std::uint32_t ThreadOrigins::test_at(Moment moment) const noexcept {
  std::uint32_t const last = last_.load(std::memory_order_relaxed);
  std::uint32_t test = last;
  for (; test > 0 && last - test < kTests - 1; --test) {
    Test const& found = tests_[test % kTests];
    if (!is_after(moment, found.begin.load(std::memory_order_relaxed))) continue;
    std::uint64_t const end = found.end.load(std::memory_order_relaxed);
    return end != 0 && is_after(moment, end) ? 0 : test;
  }
  return test == 0 ? 0 : test - 1;  // a test that is no longer known
}

}}  // namespace testlog::v1
