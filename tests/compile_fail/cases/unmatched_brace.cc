// expect: a brace without its partner
// expect: ("done }")
#include "tracing_core/tracing.h"
void f() { TRACE_INFO("done }"); }
