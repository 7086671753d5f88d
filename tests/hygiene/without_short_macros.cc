// Compiled with TRACING_NO_SHORT_MACROS: the short names are not defined.
#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

#if defined(TRACE_SPAN) || defined(TRACE_FN) || defined(TRACE_MAKE_SPAN) || defined(TRACE_ERROR) ||                    \
    defined(TRACE_WARN) || defined(TRACE_INFO) || defined(TRACE_DEBUG) || defined(TRACE_TRACE) ||                      \
    defined(TRACE_LOG) || defined(TRACE_VALUES) || defined(TRACE_ENABLED) || defined(TRACE_FIELDS) ||                  \
    defined(TRACE_ENUM) || defined(TRACE_PERF) || defined(TRACE_PERF_AT) || defined(TRACE_PERF_AS) ||                  \
    defined(TRACE_PERF_EVENT) || defined(TRACE_MAKE_PERF) || defined(TRACE_PERF_ENABLED) || defined(TRACE_ANNOTATE) || \
    defined(TRACE_ANNOTATE_AT) || defined(TRACE_STEP)
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

void without_short_macros(int number) {
  TRACING_SPAN(debug, "scope", number);
  TRACING_FN(info, number);
  TRACING_PERF("perf", number);
  TRACING_PERF_AT(warn, "perf", number);
  TRACING_PERF_AS(named, "perf", number);
  if (named.elapsed_ns() == 0) TRACING_PERF_EVENT("no time {}", number);
  TRACING_PERF_EVENT("measured {}", number);
  auto const perf_handle = TRACING_MAKE_PERF("perf", number);
  if (TRACING_PERF_ENABLED(trace)) TRACING_PERF_EVENT("enabled");
  TRACING_ANNOTATE("annotation", number);
  TRACING_ANNOTATE_AT(info, "annotation", number);
  TRACING_STEP(number);
  auto const handle = TRACING_MAKE_SPAN(trace, "handle", number);
  TRACING_ERROR("error {}", number);
  TRACING_WARN("warn {}", number);
  TRACING_INFO("info {}", number);
  TRACING_DEBUG("debug {}", number);
  TRACING_TRACE("trace {}", number);
  TRACING_LOG(debug, "log {}", number);
  TRACING_VALUES(warn, number);
  if (TRACING_ENABLED(error)) TRACING_LOG(info, "enabled");
  Point const point{1, 2};
  TRACING_VALUES(info, point, tracing::kv("mode", Mode::fast));
}

}  // namespace hygiene
