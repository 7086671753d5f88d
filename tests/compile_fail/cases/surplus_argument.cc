// expect: argument 2 needs a name, tracing::kv("name", expression)
// expect: ("{0} bytes", n, n + 1)
#include "tracing_core/tracing.h"
void f(int n) { TRACE_INFO("{0} bytes", n, n + 1); }
