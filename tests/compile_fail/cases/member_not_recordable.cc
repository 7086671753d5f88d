// expect: the type named below cannot be recorded; give it fmt::formatter, operator<<, TRACE_FIELDS
// note g++: [with T = Thing]
// note clang++: 'Thing'
// errors: 1
#include "tracing_core/tracing.h"
struct Thing {};
struct Pair {
  int number;
  Thing thing;
};
TRACE_FIELDS(Pair, number, thing)
void f(Pair const& pair) { TRACE_INFO("made", pair); }
