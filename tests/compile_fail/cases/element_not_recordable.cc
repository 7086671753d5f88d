// expect: an argument has a type that cannot be recorded
// expect: ("loaded", things)
// note: std::vector<Thing
// errors: 1
#include <map>
#include <vector>

#include "tracing_core/tracing.h"
struct Thing {};
void f(std::map<int, std::vector<Thing>> const& things) { TRACE_INFO("loaded", things); }
