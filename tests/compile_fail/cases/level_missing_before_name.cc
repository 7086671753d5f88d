// expect g++: pasting "a_level_comes_first_not_" and ""s""
// expect clang++: pasting formed 'a_level_comes_first_not_"s"'
#include "tracing_core/tracing.h"
void f() { TRACE_SPAN("s"); }
