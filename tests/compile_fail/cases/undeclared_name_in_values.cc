// expect g++: 'size' was not declared in this scope
// expect clang++: use of undeclared identifier 'size'
// errors: 4
#include "tracing_core/tracing.h"
void f() { TRACE_VALUES(info, size); }
