// expect: names a field that is not among the arguments
// expect: ("{m}", n)
#include "tracing_core/tracing.h"
void f(int n) { TRACE_INFO("{m}", n); }
