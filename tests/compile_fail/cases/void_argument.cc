// expect g++: invalid use of void expression
// expect clang++: no matching function for call to 'an_event_takes_a_message_and_values'
#include "tracing_core/tracing.h"
void nothing();
void f() { TRACE_INFO("{}", nothing()); }
