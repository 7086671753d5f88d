// expect g++: invalid use of void expression
// expect clang++: 'kv' is unavailable: the field has no value: it is void, or in braces, or there is none
#include "tracing_core/tracing.h"
void nothing();
void f() { TRACE_SPAN(info, "s", tracing::kv("n", nothing())); }
