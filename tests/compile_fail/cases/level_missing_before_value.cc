// expect: a_level_comes_first_not_n
#include "tracing_core/tracing.h"
void f(int n) { TRACE_VALUES(n); }
