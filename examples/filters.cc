// A filter in the syntax of TRACE_FILTER: levels by target, and everything inside one span.
#include <tracing_core/tracing.h>

#include "collect.h"

namespace app::net {
void send(int bytes) {
  TRACE_DEBUG("sending", bytes);
  TRACE_INFO("sent", bytes);
}
}  // namespace app::net

namespace app::gpu {
void launch(int stream) {
  TRACE_SPAN(debug, "launch", stream);
  TRACE_TRACE("every step");
  TRACE_WARN("slow");
}
}  // namespace app::gpu

int main() {
  // Selects warnings of all targets, app::net from debug on, and everything inside launches with stream 7.
  auto const tracing_guard = examples::init({.filter = "warn,app::net=debug,[launch{stream=7}]=trace"});
  app::net::send(100);
  app::gpu::launch(1);
  app::gpu::launch(7);
}
