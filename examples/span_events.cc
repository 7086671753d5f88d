// Events for the life of spans; the last one has the time that threads spent inside the span and the rest of its
// lifetime.
#include <tracing_core/tracing.h>

#include "collect.h"

int main() {
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer(
              {.span_events = tracing::SpanEvents::full, .writer = examples::standard_output()}))
          .build());
  TRACE_SPAN(info, "outer");
  TRACE_SPAN(debug, "inner", tracing::kv("step", 1));
  TRACE_INFO("working");
}
