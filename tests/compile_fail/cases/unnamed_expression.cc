// expect: argument 2 needs a name, tracing::kv("name", expression)
// expect: (info, "s", count, count * 2)
#include "tracing_core/tracing.h"
void f(int count) { TRACE_SPAN(info, "s", count, count * 2); }
