// Prints events for the life of spans; the last event has the time that threads spent inside the span and the rest of
// its lifetime.
#include <chrono>

#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

int main() {
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.span_events = tracing::SpanEvents::full, .writer = examples::standard_output()}))
          .build());
  auto const outer = TRACE_MAKE_SPAN(info, "outer");
  examples::work_for(731us);
  auto const entered = outer.enter();
  TRACE_SPAN(debug, "inner", tracing::kv("step", 1));
  TRACE_INFO("working");
  examples::work_for(1250us);
}
