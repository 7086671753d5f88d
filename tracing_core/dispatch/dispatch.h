// What macros and span handles call to pass records to the subscriber of the calling thread.
//
// Every instrumented file includes this header, so it is separate from dispatcher.h.
#pragma once

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::internal {

// Called after Callsite::enabled() returned `mask`. The first argument reserves the register that the call of the
// subscriber needs for `this`, so that the other arguments stay in their registers.
void dispatch_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
// An event with an explicit parent, or none.
void dispatch_event_below(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept;

OpenSpan dispatch_new_span(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept;
// A scope below the current span, and one with an explicit parent, or none.
OpenSpan dispatch_open_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
OpenSpan dispatch_open_scope_below(Callsite const& callsite, LayerMask mask, Value const* values,
                                   Parent parent) noexcept;
void enter(OpenSpan span) noexcept;
void exit(OpenSpan span) noexcept;
void record(OpenSpan span, FieldValues const& values) noexcept;
void follows_from(OpenSpan span, SpanId cause) noexcept;
void add_reference(OpenSpan span) noexcept;
void drop_reference(OpenSpan span) noexcept;

// Records with a track or time of their own.
void dispatch_event_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                       Origin const& origin) noexcept;
OpenSpan dispatch_new_span_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                              Origin const& origin) noexcept;

}  // namespace tracing::inline v1::internal
