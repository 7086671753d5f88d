#include "tracing_core/perf/perf_scope.h"

#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {

void PerfScope::start(OpenSpan span, std::uint64_t threshold_ns) noexcept {
  if (!span.id) return;
  id_ = span.id;
  subscriber_ = span.subscriber;
  threshold_ns_ = threshold_ns;
  siblings_before_ns_ = std::exchange(thread_state.timed_children_ns, 0);
  begin_ = ticks_now();  // last, so that the lines above do not count
}

std::uint64_t PerfScope::measure() const noexcept { return ns_between(begin_, ticks_now()); }

void PerfScope::close() noexcept {
  std::uint64_t const duration = ns_between(begin_, ticks_now());
  std::uint64_t const children = std::exchange(thread_state.timed_children_ns, siblings_before_ns_ + duration);
  subscriber_->close_timed_scope(id_, {duration, duration > children ? duration - children : 0, threshold_ns_});
}

}}}  // namespace tracing::v1::internal
