#include "parts.h"

#include <tracing_core/tracing.h>

void middle(void (*innermost)()) {
  TRACE_SPAN(info, "in_middle", tracing::kv("n", 2));
  TRACE_DEBUG("middle");
  if (innermost != nullptr) innermost();
}
