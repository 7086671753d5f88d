// expect: more placeholders than there are arguments
// expect: ("{} of {}", n)
#include "tracing_core/tracing.h"
void f(int n) { TRACE_INFO("{} of {}", n); }
