// expect: an event takes a message first; TRACE_VALUES is one without a message
#include "tracing_core/tracing.h"
void f() { TRACE_LOG(info); }
