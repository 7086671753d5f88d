// expect g++: invalid use of void expression
// expect clang++: no matching function for call to 'kv'
#include "tracing_core/tracing.h"
void nothing();
void f() { TRACE_SPAN(info, "s", tracing::kv("n", nothing())); }
