// expect: cannot be recorded
// expect: (info, thing)
#include "tracing_core/tracing.h"
struct Thing {};
void f(Thing const& thing) { TRACE_VALUES(info, thing); }
