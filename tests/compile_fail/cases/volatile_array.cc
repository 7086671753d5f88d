// expect: an argument has a type that cannot be recorded
// note: volatile int
// errors: 1
#include "tracing_core/tracing.h"
extern int volatile registers[4];
void f() { TRACE_INFO("read", registers); }
