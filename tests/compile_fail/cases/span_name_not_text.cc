// expect: no matching function for call to
// expect: a_span_takes_a_level_a_name_and_values
#include "tracing_core/tracing.h"
void f(int n) { TRACE_SPAN(info, n); }
