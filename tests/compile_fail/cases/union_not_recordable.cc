// expect: an argument has a type that cannot be recorded
// note: Bits
// errors: 1
#include "tracing_core/tracing.h"
union Bits {
  int number;
  float real;
};
void f(Bits bits) { TRACE_INFO("read", bits); }
