// expect: a_level_comes_first_not_warning
#include "tracing_core/tracing.h"
void f() { TRACE_LOG(warning, "late"); }
