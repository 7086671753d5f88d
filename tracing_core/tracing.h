// The header for instrumented code: the macros, Span and the types of their arguments; nothing of the collecting side.
//
// It may be included several times: see short_macros.inc.
#include "tracing_core/support/cxx20.h"

#include "tracing_core/emit/macros.h"
#include "tracing_core/model/describe.h"
#include "tracing_core/perf/perf_scope.h"
#include "tracing_core/profile/annotate.h"

#include "tracing_core/support/short_macros.inc"
