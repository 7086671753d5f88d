// The macros defined away to what a program without tracing would have there. Included in front of an example by run.sh.
#pragma once

#include "tracing_core/tracing.h"

#undef TRACE_SPAN
#undef TRACE_FN
#undef TRACE_MAKE_SPAN
#undef TRACE_ERROR
#undef TRACE_WARN
#undef TRACE_INFO
#undef TRACE_DEBUG
#undef TRACE_TRACE
#undef TRACE_LOG
#undef TRACE_VALUES
#undef TRACE_ENABLED
#define TRACE_SPAN(...) static_assert(true)
#define TRACE_FN(...) static_assert(true)
#define TRACE_MAKE_SPAN(...) ::tracing::Span()
#define TRACE_ERROR(...) static_cast<void>(0)
#define TRACE_WARN(...) static_cast<void>(0)
#define TRACE_INFO(...) static_cast<void>(0)
#define TRACE_DEBUG(...) static_cast<void>(0)
#define TRACE_TRACE(...) static_cast<void>(0)
#define TRACE_LOG(...) static_cast<void>(0)
#define TRACE_VALUES(...) static_cast<void>(0)
#define TRACE_ENABLED(...) false
