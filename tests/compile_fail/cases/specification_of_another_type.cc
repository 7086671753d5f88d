// expect: cannot be printed with the message's format specification
// expect: ("{:x}", text)
#include "tracing_core/tracing.h"
void f(char const* text) { TRACE_INFO("{:x}", text); }
