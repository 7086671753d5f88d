// expect: the type named below cannot be recorded; give it fmt::formatter, operator<<, TRACE_FIELDS
// note g++: [with T = Thing]
// note clang++: 'Thing'
// errors: 1
#include "tracing_core/tracing.h"
struct Thing {};
void f(tracing::Span const& span, Thing const& thing) { span.record(tracing::kv("thing", thing)); }
