// A name of two fields: readers of JSON keep only one of them.
// expect: two fields have the same name: ("launched", grid, tracing::kv("grid", 2 * grid))
#include "tracing_core/tracing.h"

void f(int grid) { TRACE_INFO("launched", grid, tracing::kv("grid", 2 * grid)); }
