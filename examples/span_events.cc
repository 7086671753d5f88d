// What happens to spans, printed as events; a closing span says how long threads were in it and how long not.
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
