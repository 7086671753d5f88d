// emit_past_span(): a span that has ended already, such as what a device did.
#pragma once

#include "tracing_core/emit/span.h"

namespace tracing::inline v1 {

/// When a track was in a span.
struct Period {
  Track const& track;
  Instant begin;
  Instant end;
};

/// Emits a span that has ended, of a callsite made at run time, if it is enabled: a root, which follows from `cause` unless
/// that is none. It goes to the subscriber of `cause`, or of this thread. `values` are in the order of the fields.
/// REQUIRES: one thread at a time emits on the track; begin and end are known, and in this order.
void emit_past_span(Callsite& callsite, Value const* values, Period const& period, Span const& cause = {}) noexcept;

}  // namespace tracing::inline v1
