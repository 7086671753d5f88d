// expect: must be a plain string literal
// expect: tracing::kv(kName, n)
#include "tracing_core/tracing.h"
constexpr char kName[] = "n";
void f(int n) { TRACE_VALUES(info, tracing::kv(kName, n)); }
