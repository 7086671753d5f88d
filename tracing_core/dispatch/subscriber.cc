// Implements scopes and events of the calling thread by calls that every subscriber has.
#include "tracing_core/dispatch/subscriber.h"

#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 {

using internal::InSubscriber;

OpenSpan Subscriber::open_scope(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  InSubscriber const in_subscriber;
  SpanId const id = new_span(NewSpan{FieldValues(metadata, values), {}, mask, {}});
  if (id) enter(id, Origin{});
  return {this, id};
}

void Subscriber::event_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  InSubscriber const in_subscriber;
  event(Event{FieldValues(metadata, values), {}, mask, {}});
}

void Subscriber::close_scope(SpanId span) noexcept {
  InSubscriber const in_subscriber;
  exit(span, Origin{});
  drop_reference(span, Origin{});
}

}}  // namespace tracing::v1
