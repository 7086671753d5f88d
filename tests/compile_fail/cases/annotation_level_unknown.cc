// expect: an_annotation_level_comes_first_not_debug
#include "tracing_core/tracing.h"
void f() { TRACE_ANNOTATE_AT(debug, "s"); }
