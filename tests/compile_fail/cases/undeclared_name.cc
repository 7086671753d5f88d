// expect g++: 'half' was not declared in this scope
// expect clang++: use of undeclared identifier 'half'
// errors: 4
#include "tracing_core/tracing.h"
void f(int n) { TRACE_INFO("halved", n, half = n / 2); }
