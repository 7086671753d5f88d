// Passes records to the subscriber, with hidden values (see redact()) replaced. Drops records that a subscriber emits.
#include "tracing_core/dispatch/dispatch.h"

#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/dispatch/redacted_values.h"

namespace tracing { inline namespace v1 { namespace internal {

void dispatch_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return current().count_dropped(mask);
  if (current_redaction() != nullptr) [[unlikely]]
    return dispatch_redacted_event(nullptr, metadata, mask, values);
  current().event_here(metadata, mask, values);
}

void dispatch_event_below(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept {
  dispatch_event_at(callsite, mask, values, parent, Origin{});
}

void dispatch_event_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                       Origin const& origin) noexcept {
  if (thread_state.in_subscriber) return current().count_dropped(mask);
  InSubscriber const in_subscriber;
  auto const emit = [&](Value const* shown) {
    current().event(Event{FieldValues(callsite.metadata(), shown), parent, mask, origin});
  };
  Redaction const* const redaction = current_redaction();
  redaction == nullptr ? emit(values) : with_redacted(*redaction, callsite.metadata(), values, emit);
}

[[gnu::always_inline]] static inline OpenSpan new_span(Callsite const& callsite, LayerMask mask, Value const* values,
                                                       Parent parent, Origin const& origin) noexcept {
  Subscriber& subscriber = current();
  if (thread_state.in_subscriber) return subscriber.count_dropped(mask), OpenSpan{};
  InSubscriber const in_subscriber;
  auto const open = [&](Value const* shown) {
    return subscriber.new_span(NewSpan{FieldValues(callsite.metadata(), shown), parent, mask, origin});
  };
  Redaction const* const redaction = current_redaction();
  if (redaction == nullptr) [[likely]]
    return {&subscriber, open(values)};
  return {&subscriber, with_redacted(*redaction, callsite.metadata(), values, open)};
}

OpenSpan dispatch_new_span(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent) noexcept {
  return new_span(callsite, mask, values, parent, Origin{});
}

OpenSpan dispatch_new_span_at(Callsite const& callsite, LayerMask mask, Value const* values, Parent parent,
                              Origin const& origin) noexcept {
  return new_span(callsite, mask, values, parent, origin);
}

OpenSpan dispatch_open_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return current().count_dropped(mask), OpenSpan{};
  if (current_redaction() != nullptr) [[unlikely]]
    return dispatch_redacted_scope(nullptr, metadata, mask, values);
  return current().open_scope(metadata, mask, values);
}

OpenSpan dispatch_open_scope_below(Callsite const& callsite, LayerMask mask, Value const* values,
                                   Parent parent) noexcept {
  OpenSpan const span = dispatch_new_span(callsite, mask, values, parent);
  if (span.id) enter(span);
  return span;
}

// Does nothing if the thread is inside the subscriber, where a signal handler may find it. So a handler's calls on span
// handles have no effect then.
void enter(OpenSpan span) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return;
  InSubscriber const in_subscriber;
  span.subscriber->enter(span.id, Origin{});
}

void exit(OpenSpan span) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return;
  InSubscriber const in_subscriber;
  span.subscriber->exit(span.id, Origin{});
}

void record(OpenSpan span, FieldValues const& values) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return;
  InSubscriber const in_subscriber;
  Redaction const* const redaction = current_redaction();
  if (redaction == nullptr) return span.subscriber->record(span.id, values);
  with_redacted(*redaction, values.metadata(), values.statement_values(),
                [&](auto* shown) { span.subscriber->record(span.id, FieldValues(values.metadata(), shown)); });
}

void follows_from(OpenSpan span, SpanId cause) noexcept {
  if (thread_state.in_subscriber) [[unlikely]]
    return;
  InSubscriber const in_subscriber;
  span.subscriber->follows_from(span.id, cause);
}

void add_reference(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->add_reference(span.id);
}

void drop_reference(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->drop_reference(span.id, Origin{});
}

}}}  // namespace tracing::v1::internal
