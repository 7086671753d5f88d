// expect: cannot be recorded
#include <chrono>

#include "tracing_core/tracing.h"
void f() { auto const span = TRACE_MAKE_PERF("s", tracing::threshold(std::chrono::microseconds(5))); }
