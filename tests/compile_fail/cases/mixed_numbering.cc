// expect: the message mixes {} with numbered placeholders
// expect: ("{} {0}", n)
#include "tracing_core/tracing.h"
void f(int n) { TRACE_INFO("{} {0}", n); }
