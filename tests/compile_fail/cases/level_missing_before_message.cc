// expect g++: pasting "a_level_comes_first_not_" and ""loaded""
// expect clang++: pasting formed 'a_level_comes_first_not_"loaded"'
#include "tracing_core/tracing.h"
void f(int n) { TRACE_LOG("loaded", n); }
