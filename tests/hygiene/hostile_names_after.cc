#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

#include "tests/hygiene/hostile_names.inc"

// Behind the header any name may be taken, of helpers and of what the expansions are made of.
#define empty hostile
#define kv hostile
#define display hostile
#define pretty hostile
#define target hostile
#define parent hostile
#define level hostile
#define name hostile
#define names hostile
#define span hostile
#define event hostile
#define kind hostile
#define enabled hostile
#define metadata hostile
#define callsite hostile
#define verdict hostile
#define types hostile
#define parsed hostile
#define text hostile
#define message hostile
#define value hostile
#define open hostile
#define ask hostile
#define n hostile
#define A hostile
#define B hostile
#define T hostile
#define arguments hostile

namespace hygiene {

void hostile_names_after(int number) {
  TRACE_SPAN(debug, "scope", number);
  TRACE_FN(info, number);
  TRACE_PERF("perf", number);
  TRACE_PERF_AT(warn, "perf", number);
  TRACE_PERF_AS(named, "perf", number);
  if (named.elapsed_ns() == 0) TRACE_PERF_EVENT("no time {}", number);
  TRACE_PERF_EVENT("measured {}", number);
  auto const handle = TRACE_MAKE_SPAN(trace, "handle", number);
  TRACE_ERROR("error {}", number);
  TRACE_WARN("warn {}", number);
  TRACE_INFO("info {}", number);
  TRACE_DEBUG("debug {}", number);
  TRACE_TRACE("trace {}", number);
  TRACE_LOG(debug, "log {}", number);
  TRACE_VALUES(warn, number);
  if (TRACE_ENABLED(error)) TRACE_LOG(info, "enabled");
}

}  // namespace hygiene
