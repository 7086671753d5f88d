// expect: cannot be recorded
#include <chrono>

#include "tracing_core/tracing.h"
void f() { TRACE_SPAN(info, "s", tracing::threshold(std::chrono::microseconds(5))); }
