#include "tracing_core/dispatch/redacted_values.h"

#include "tracing_core/dispatch/dispatcher.h"

namespace tracing::inline v1::internal {

void dispatch_redacted_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr) return;
  with_redacted(*current_redaction(), metadata, values,
             [&](Value const* shown) { subscriber->event_here(metadata, mask, shown); });
}

OpenSpan dispatch_redacted_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask,
                                 Value const* values) noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr) return {};
  return with_redacted(*current_redaction(), metadata, values,
                    [&](Value const* shown) { return subscriber->open_scope(metadata, mask, shown); });
}

}  // namespace tracing::inline v1::internal
