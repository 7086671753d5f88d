// Compiled by run.sh in several ways, to compare machine code. Without WITH_TRACING the macros are empty.
#if defined(WITH_TRACING)
#include "tracing_core/perf/recorders.h"
#include "tracing_core/tracing.h"
#else
#define TRACE_SPAN(...) static_assert(true)
#define TRACE_FN(...) static_assert(true)
#define TRACE_DEBUG(...) static_assert(true)
#define TRACE_VALUES(...) static_assert(true)
#define TRACE_PERF(...) static_assert(true)
#define TRACE_PERF_AT(...) static_assert(true)
#define TRACE_PERF_AS(...) static_assert(true)
#define TRACE_PERF_ALLOCATION(...) static_assert(true)
#define TRACE_PERF_EVENT(...) static_assert(true)
#define TRACE_ANNOTATE(...) static_assert(true)
#define TRACE_ANNOTATE_AT(...) static_assert(true)
#define TRACE_STEP(...) static_assert(true)
#endif

void body();

// Has a stack frame, and work after the span.
int spanned(int rows, int columns) {
  TRACE_SPAN(info, "work", rows, columns);
  body();
  return columns;
}

// As spanned(), with a perf span.
int timed(int rows, int columns) {
  TRACE_PERF("work", rows, columns);
  body();
  return columns;
}

// As spanned(), with an annotation.
int annotated(int rows, int columns) {
  TRACE_ANNOTATE("work", rows, columns);
  body();
  return columns;
}

// As spanned(), with an annotation whose name may be made at run time.
int named(int rows, int columns) {
#if defined(WITH_TRACING)
  tracing::annotate(
      "work", [] { body(); }, tracing::kv("rows", rows), tracing::kv("columns", columns));
#else
  (void)rows;
  body();
#endif
  return columns;
}

int sum(int const* values, int count) {
  TRACE_FN(debug, count);
  TRACE_PERF_AT(info, "sum", count);
  TRACE_PERF_AS(block, "block");
  TRACE_STEP(count);
  TRACE_ANNOTATE_AT(verbose, "rows", count);
  int total = 0;
  for (int i = 0; i < count; ++i) {
    TRACE_SPAN(trace, "step", i);
    total += values[i];
    TRACE_DEBUG("added {}", values[i], total);
  }
  TRACE_VALUES(info, total);
  TRACE_PERF_EVENT("summed", total);
  TRACE_PERF_ALLOCATION(total, "pool");
  return total;
}

#if defined(WITH_TRACING)
void disabled_event(int rows, int columns) { TRACE_DEBUG("step", rows, columns); }
void disabled_perf_event(int rows, int columns) { TRACE_PERF_EVENT("step", rows, columns); }
#endif
