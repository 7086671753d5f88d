#include "tracing_core/dispatch/shown_values.h"

#include "tracing_core/dispatch/dispatcher.h"

namespace tracing::inline v1::internal {

void dispatch_shown_event(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr) return;
  with_shown(*current_redaction(), metadata, values,
             [&](Value const* shown) { subscriber->event_here(metadata, verdict, shown); });
}

OpenSpan dispatch_shown_scope(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr) return {};
  return with_shown(*current_redaction(), metadata, values,
                    [&](Value const* shown) { return subscriber->open_scope(metadata, verdict, shown); });
}

}  // namespace tracing::inline v1::internal
