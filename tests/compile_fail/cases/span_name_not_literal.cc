// expect: name
// expect:  captured
#include "tracing_core/tracing.h"
void f(char const* name) { TRACE_SPAN(info, name); }
