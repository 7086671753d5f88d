// expect: an argument has a type that cannot be recorded
// note: int[]
// errors: 1
#include "tracing_core/tracing.h"
extern int table[];
void f() { TRACE_INFO("loaded", table); }
