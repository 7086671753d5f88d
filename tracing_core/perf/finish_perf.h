// finish_perf(): ends a perf span that TRACE_MAKE_PERF made.
#pragma once

#include <chrono>
#include <optional>

#include "tracing_core/emit/span.h"

namespace tracing { inline namespace v1 {

/// Reports the duration of a perf span, as at the end of a TRACE_PERF, and drops this handle. If this thread is in the
/// span, it leaves the span. `self` is the part of the duration that no perf span inside of it measures; by default the
/// entire duration. Call finish_perf() once for a span. A span whose handles are dropped without it has no duration.
void finish_perf(Span span, std::chrono::nanoseconds duration,
                 std::optional<std::chrono::nanoseconds> self = std::nullopt) noexcept;

}}  // namespace tracing::v1
