// expect: a_level_comes_first_not_
#include "tracing_core/tracing.h"
void f() { TRACE_FN(); }
