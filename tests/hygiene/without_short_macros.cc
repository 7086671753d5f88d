// Compiled with TRACING_NO_SHORT_MACROS: the short names are free for others.
#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

#if defined(TRACE_SPAN) || defined(TRACE_FN) || defined(TRACE_MAKE_SPAN) || defined(TRACE_ERROR) || \
    defined(TRACE_WARN) || defined(TRACE_INFO) || defined(TRACE_DEBUG) || defined(TRACE_TRACE) ||   \
    defined(TRACE_LOG) || defined(TRACE_VALUES) || defined(TRACE_ENABLED) || defined(TRACE_FIELDS) || defined(TRACE_ENUM) || \
    defined(TRACE_PERF) || defined(TRACE_PERF_AT) || defined(TRACE_PERF_AS) || defined(TRACE_PERF_EVENT)
#error "a short macro is defined"
#endif

namespace hygiene {
namespace {

struct Point {
  int x;
  int y;
};
TRACING_FIELDS(Point, x, y)
enum class Mode { fast };
TRACING_ENUM(Mode, fast)

}  // namespace

void without_short_macros(int n) {
  TRACING_SPAN(debug, "scope", n);
  TRACING_FN(info, n);
  TRACING_PERF("perf", n);
  TRACING_PERF_AT(warn, "perf", n);
  TRACING_PERF_AS(named, "perf", n);
  if (named.elapsed_ns() == 0) TRACING_PERF_EVENT("no time {}", n);
  TRACING_PERF_EVENT("measured {}", n);
  auto const handle = TRACING_MAKE_SPAN(trace, "handle", n);
  TRACING_ERROR("error {}", n);
  TRACING_WARN("warn {}", n);
  TRACING_INFO("info {}", n, tracing::kv("point", Point{1, 2}), tracing::kv("mode", Mode::fast));
  TRACING_DEBUG("debug {}", n);
  TRACING_TRACE("trace {}", n);
  TRACING_LOG(debug, "log {}", n);
  TRACING_VALUES(warn, n);
  if (TRACING_ENABLED(error)) TRACING_INFO("enabled");
}

}  // namespace hygiene
