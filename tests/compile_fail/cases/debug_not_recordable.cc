// expect: an argument has a type that cannot be recorded
// note: Thing
// errors: 1
#include "tracing_core/tracing.h"
struct Thing {};
void f(Thing const& thing) { TRACE_INFO("shown as {}", tracing::debug(thing)); }
