// expect: an argument has a type that cannot be recorded
// expect: (info, "s", n, tracing::kv("thing", thing))
// note g++: [with T = Thing]
// note clang++: 'Thing'
// errors: 1
#include "tracing_core/tracing.h"
struct Thing {};
void f(Thing const& thing, int n) { auto const span = TRACE_MAKE_SPAN(info, "s", n, tracing::kv("thing", thing)); }
