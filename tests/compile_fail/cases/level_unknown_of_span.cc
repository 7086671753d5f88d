// expect: a_level_comes_first_not_verbose
#include "tracing_core/tracing.h"
void f() { TRACE_SPAN(verbose, "s"); }
