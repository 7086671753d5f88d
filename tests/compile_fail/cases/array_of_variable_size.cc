// expect g++: (const char [2], int [n])
// errors: 5
#include "tracing_core/tracing.h"
void f(int n) {
  int values[n];
  TRACE_INFO("x", values);
}
