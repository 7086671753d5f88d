// record_of(): a record as a value that tests can inspect.
#pragma once

#include "testlog/records.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/record/recorded_spans.h"

namespace testlog::inline v1 {

/// Of an event or the beginning of a span; `span` is the one in which the event is, or which begins.
Record record_of(tracing::internal::RecordEntry const& entry, tracing::internal::RecordedSpan const* span);
/// Of an event that a layer receives. Throws std::bad_alloc.
Record record_of(tracing::Event const& event, tracing::Context const& context);

}  // namespace testlog::inline v1
