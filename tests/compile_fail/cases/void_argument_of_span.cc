// expect g++: invalid use of void expression
// expect clang++: an argument has no value: it is void, or in braces
#include "tracing_core/tracing.h"
void nothing();
void f(int n) { TRACE_SPAN(info, "s", n, nothing()); }
