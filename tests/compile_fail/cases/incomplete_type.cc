// expect: an argument has a type that cannot be recorded
// note g++: [with T = Thing]
// note clang++: 'Thing'
// errors: 1
#include "tracing_core/tracing.h"
struct Thing;
void f(Thing const& thing) { TRACE_SPAN(info, "s", thing); }
