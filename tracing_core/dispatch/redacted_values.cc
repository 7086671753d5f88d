#include "tracing_core/dispatch/redacted_values.h"

#include "tracing_core/dispatch/current_subscriber.h"

namespace tracing { inline namespace v1 { namespace internal {

void dispatch_redacted_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  Subscriber& subscriber = current();
  with_redacted(*current_redaction(), metadata, values,
                [&](Value const* shown) { subscriber.event_here(metadata, mask, shown); });
}

OpenSpan dispatch_redacted_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask,
                                 Value const* values) noexcept {
  Subscriber& subscriber = current();
  return with_redacted(*current_redaction(), metadata, values,
                       [&](Value const* shown) { return subscriber.open_scope(metadata, mask, shown); });
}

}}}  // namespace tracing::v1::internal
