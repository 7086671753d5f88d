// fill_record(), record_of(): a record as a value that tests can inspect.
#pragma once

#include "testlog/records.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/record/spans.h"

namespace testlog { inline namespace v1 {

/// Fills in an empty record: an event or the beginning of a span. `span` is the span around the event, or the span that
/// begins.
void fill_record(Record& record, tracing::recording::Entry const& entry, tracing::recording::Span const* span);
/// Converts an event that a layer receives. Throws std::bad_alloc.
Record record_of(tracing::Event const& event, tracing::Context const& context);

}}  // namespace testlog::v1
