// What instrumented code includes: the macros, Span and what they take; nothing of the collecting side.
#pragma once

#include "tracing_core/emit/macros.h"
#include "tracing_core/model/describe.h"
#include "tracing_core/perf/perf_scope.h"
#include "tracing_core/profile/annotate.h"
