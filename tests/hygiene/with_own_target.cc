#define TRACE_TARGET "own::target"
#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

namespace hygiene {

void with_own_target(int n) {
  TRACE_SPAN(info, "scope", n);
  TRACE_INFO("event", n);
  TRACE_INFO("other", tracing::target("of the statement"));
}

}  // namespace hygiene
