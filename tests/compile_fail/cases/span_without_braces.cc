// expect: put_braces_around_this_span
#include "tracing_core/tracing.h"
void f(bool c) {
  if (c) TRACE_SPAN(info, "s");
}
