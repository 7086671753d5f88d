// expect: an argument has a type that cannot be recorded
// note: volatile Thing
// errors: 1
#include "tracing_core/tracing.h"
struct Thing {
  int x;
};
TRACE_FIELDS(Thing, x)
void f(Thing volatile& thing) { TRACE_INFO("read", thing); }
