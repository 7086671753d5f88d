#include <tracing_core/tracing.h>

#include "parts.h"

void outer(void (*innermost)()) {
  TRACE_SPAN(info, "in_outer", tracing::kv("n", 1));
  TRACE_INFO("outer");
  middle(innermost);
}
