#include "tracing_core/emit/span.h"

#include <array>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/printed_values.h"

namespace tracing { inline namespace v1 {

namespace internal {
namespace {
constinit thread_local FoundSpan found{};
}

bool find_enabled_span(Callsite& callsite) noexcept {
  found = {&callsite, callsite.enabled_slow()};
  return found.mask != 0;
}

FoundSpan found_span() noexcept { return found; }

}  // namespace internal

void emit_event(Callsite& callsite, Value const* values, Parent parent, Origin const& origin) noexcept {
  LayerMask const mask = callsite.enabled();
  if (mask != 0) internal::dispatch_event_at(callsite, mask, values, parent, origin);
}

Span Span::make(Callsite& callsite, Value const* values, Parent parent, Origin const& origin) noexcept {
  LayerMask const mask = callsite.enabled();
  if (mask == 0) return {};
  return Span(internal::dispatch_new_span_at(callsite, mask, values, parent, origin), callsite.metadata());
}

Span Span::current() noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr) return {};
  SpanId const id = subscriber->current_span();
  Metadata const* const metadata = id ? subscriber->metadata(id) : nullptr;
  if (metadata == nullptr) return {};
  Span span(OpenSpan{subscriber, id}, *metadata);
  span.add_reference();
  return span;
}

void Span::record_all(Value const* values) const noexcept {
  if (open_.id) internal::record(open_, FieldValues(*metadata_, values));
}

void Span::record_value(std::string_view name, Value value) const noexcept {
  std::size_t const index = metadata_->fields().index_of(name);
  if (index == metadata_->fields().size()) return;
  std::array<Value, 256> values;  // value_index is a byte
  internal::PrintedValues const printed(value);
  values[metadata_->parts().fields[index].value_index] = value;
  internal::record(open_, FieldValues(*metadata_, values.data()));
}

Span const& Span::follows_from(Span const& cause) const noexcept {
  bool const related = open_.id && cause.open_.id && open_.subscriber == cause.open_.subscriber;
  if (related) internal::follows_from(open_, cause.open_.id);
  return *this;
}

void Span::add_reference() const noexcept {
  if (open_.id) internal::add_reference(open_);
}

void Span::drop_reference() const noexcept { internal::drop_reference(open_); }

}}  // namespace tracing::v1
