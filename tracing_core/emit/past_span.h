// emit_past_span(): emits a span that has ended already, such as an operation of a device.
#pragma once

#include "tracing_core/emit/span.h"

namespace tracing { inline namespace v1 {

/// The time during which a track was in a span.
struct Period {
  Track const& track;
  Instant begin;
  Instant end;
};

/// Emits a span that has ended, of a callsite made at run time, if the callsite is enabled. The span has no parent; it
/// follows from `cause`, unless `cause` is empty. It goes to the subscriber of `cause`, or of this thread. `values` are
/// in the order of the fields. REQUIRES: one thread at a time emits on the track; begin and end are known, and end is
/// not before begin.
void emit_past_span(Callsite& callsite, Value const* values, Period const& period, Span const& cause = {}) noexcept;

}}  // namespace tracing::v1
