// is_shorter(): tells if a perf event reports a duration below a threshold.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/subscriber.h"

namespace tracing { inline namespace v1 { namespace internal {

// Returns true for a perf event whose field `duration_us` is below the threshold. Returns false for the event at the
// end of a perf span, which is only made if the span's own threshold allows it.
inline bool is_shorter(Event const& event, std::uint64_t threshold_ns) noexcept {
  if (threshold_ns == 0 || !event.metadata().is_perf() || event.metadata().parts().ends_perf_span) [[likely]]
    return false;
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    if (event.fields.name(i) != "duration_us") continue;
    Value const value = event.fields.value(i);
    return value.kind() == ValueKind::u64 && value.as_u64() < threshold_ns / 1000;
  }
  return false;
}

}}}  // namespace tracing::v1::internal
