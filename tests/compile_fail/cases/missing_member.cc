// expect g++: has no member named 'bytes'
// expect clang++: no member named 'bytes'
// errors: 4
#include "tracing_core/tracing.h"
struct Buffer { int size; };
void f(Buffer const& buffer) { TRACE_DEBUG("allocated {} bytes", buffer.bytes); }
