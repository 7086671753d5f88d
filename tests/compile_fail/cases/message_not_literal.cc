// expect: the message must be a string literal
// expect: (text)
#include "tracing_core/tracing.h"
void f(char const* text) { TRACE_INFO(text); }
