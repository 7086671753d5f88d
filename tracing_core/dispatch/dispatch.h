// Passes the records of macros and span handles to the subscriber of the calling thread.
//
// Every instrumented file includes this header, so it is separate from dispatcher.h.
#pragma once

#include "tracing_core/dispatch/subscriber.h"

namespace tracing { inline namespace v1 { namespace internal {

// Emits an event. REQUIRES: Callsite::enabled() returned `mask`. The first argument reserves the register that holds
// `this` in the call of the subscriber, so that the other arguments stay in their registers.
void dispatch_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
// Emits an event with an explicit parent, or as a root.
void dispatch_event_below(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept;

OpenSpan dispatch_new_span(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept;
// Open a scope: the first below the current span, the second with an explicit parent or as a root.
OpenSpan dispatch_open_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
OpenSpan dispatch_open_scope_below(Callsite const& callsite, LayerMask mask, Value const* values,
                                   Parent parent) noexcept;
void enter(OpenSpan span) noexcept;
void exit(OpenSpan span) noexcept;
void record(OpenSpan span, FieldValues const& values) noexcept;
void follows_from(OpenSpan span, SpanId cause) noexcept;
void add_reference(OpenSpan span) noexcept;
void drop_reference(OpenSpan span) noexcept;

// Emit records that have a track or time of their own.
void dispatch_event_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                       Origin const& origin) noexcept;
OpenSpan dispatch_new_span_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                              Origin const& origin) noexcept;

}}}  // namespace tracing::v1::internal
