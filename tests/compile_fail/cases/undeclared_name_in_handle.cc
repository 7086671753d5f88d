// expect g++: 'size' was not declared in this scope
// expect clang++: use of undeclared identifier 'size'
// errors: 4
#include "tracing_core/tracing.h"
void f() { auto const span = TRACE_MAKE_SPAN(info, "s", tracing::kv("bytes", size)); }
