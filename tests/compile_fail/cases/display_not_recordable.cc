// expect: argument 1 has a type that cannot be recorded
// expect: tracing::display(thing)
#include "tracing_core/tracing.h"
struct Thing {};
void f(Thing const& thing) { TRACE_INFO("shown", tracing::kv("thing", tracing::display(thing))); }
