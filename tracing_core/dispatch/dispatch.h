// Declares what the macros and span handles call: a record goes to the subscriber that the thread has.
//
// It stands apart from dispatcher.h because every instrumented file includes it.
#pragma once

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::internal {

// What the macros call once a callsite said that somebody wants the record.
// The first argument keeps the place that the subscriber takes in the next call: the others stay in their registers.
void dispatch_event(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept;
// The same below another span or none.
void dispatch_event_below(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept;

OpenSpan dispatch_new_span(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept;
// A scope below the span that the thread is in, and one below another or none. The first argument as above.
OpenSpan dispatch_open_scope(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept;
OpenSpan dispatch_open_scope_below(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept;
void enter(OpenSpan span) noexcept;
void exit(OpenSpan span) noexcept;
void record(OpenSpan span, FieldValues const& values) noexcept;
void follows_from(OpenSpan span, SpanId cause) noexcept;
void add_reference(OpenSpan span) noexcept;
void drop_reference(OpenSpan span) noexcept;

// The same for records that did not happen here and now.
void dispatch_event_at(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent,
                       Origin const& origin) noexcept;
OpenSpan dispatch_new_span_at(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent,
                              Origin const& origin) noexcept;

}  // namespace tracing::inline v1::internal
