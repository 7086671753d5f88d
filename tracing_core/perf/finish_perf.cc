#include "tracing_core/perf/finish_perf.h"

#include <algorithm>

#include "tracing_core/dispatch/dispatch.h"

namespace tracing { inline namespace v1 {

void finish_perf(Span span, std::chrono::nanoseconds duration, std::optional<std::chrono::nanoseconds> self) noexcept {
  auto const [subscriber, id] = span.open();
  if (!id) return;
  auto const count = [](std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(time.count(), 0));
  };
  // close_timed_scope() leaves the span and drops a reference.
  if (subscriber->current_span() != id) internal::enter(span.open());
  internal::add_reference(span.open());
  subscriber->close_timed_scope(id, {count(duration), count(self.value_or(duration)), Timing::kNoThreshold});
}

}}  // namespace tracing::v1
