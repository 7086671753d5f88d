// Redefines the macros to the code that a program without tracing would have instead. examples.sh includes this before
// an example. It also checks that each public macro is redefined here; otherwise the macro would be compared with
// itself.
#pragma once

#include "tracing_core/cuda/check.h"
#include "tracing_core/perf/recorders.h"
#include "tracing_core/tracing.h"

namespace without_macros {

// Replaces the variable of TRACE_PERF_AS, whose elapsed time is zero.
struct NoTime {
  constexpr unsigned long elapsed_ns() const { return 0; }
};

}  // namespace without_macros

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
#undef TRACE_ANNOTATE
#undef TRACE_ANNOTATE_AT
#undef TRACE_STEP
#undef TRACE_PERF
#undef TRACE_PERF_AS
#undef TRACE_PERF_AT
#undef TRACE_PERF_EVENT
#undef TRACE_PERF_ENABLED
#undef TRACE_MAKE_PERF
#undef TRACE_PERF_ALLOCATION
#undef TRACE_PERF_EXECUTION
#undef TRACE_PERF_TRANSFER
#undef TRACE_PERF_THROUGHPUT
#undef TRACE_PERF_FLOPS
#undef TRACE_FIELDS
#undef TRACE_ENUM
#undef TRACE_CUDA_CALL
#undef TRACE_CUDA_CALL_THROW
#undef TRACE_LAUNCH
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
#define TRACE_ANNOTATE(...) static_assert(true)
#define TRACE_ANNOTATE_AT(...) static_assert(true)
#define TRACE_STEP(...) static_assert(true)
#define TRACE_PERF(...) static_assert(true)
#define TRACE_PERF_AS(variable, ...) [[maybe_unused]] constexpr ::without_macros::NoTime variable
#define TRACE_PERF_AT(...) static_assert(true)
#define TRACE_PERF_EVENT(...) static_cast<void>(0)
#define TRACE_PERF_ENABLED(...) false
#define TRACE_MAKE_PERF(...) ::tracing::Span()
#define TRACE_PERF_ALLOCATION(...) static_cast<void>(0)
#define TRACE_PERF_EXECUTION(...) static_cast<void>(0)
#define TRACE_PERF_TRANSFER(...) static_cast<void>(0)
#define TRACE_PERF_THROUGHPUT(...) static_cast<void>(0)
#define TRACE_PERF_FLOPS(...) static_cast<void>(0)
#define TRACE_FIELDS(...)
#define TRACE_ENUM(...)
// These macros also execute their arguments.
#define TRACE_CUDA_CALL(...) (__VA_ARGS__)
#define TRACE_CUDA_CALL_THROW(...) (__VA_ARGS__)
#define TRACE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
