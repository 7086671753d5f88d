// expect: cannot tell the arguments apart; put parentheses around the one with < or >
// expect: n < m, n > m
#include "tracing_core/tracing.h"
template <int a, int b>
int sum = a + b;
void f(int n, int m) { TRACE_INFO("{} {} {}", sum<1, 2>, n < m, n > m); }
