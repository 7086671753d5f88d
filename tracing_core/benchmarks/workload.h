// The instrumented functions that the benchmarks call, in another translation unit like those of a library.
#pragma once

#include "tracing_core/emit/span.h"

namespace workload {

/// A debug event with two integer fields and no message arguments.
void event(int rows, int columns);
/// An info span with two integer fields and nothing inside.
void span(int rows, int columns);
/// The same span as a handle, which is not entered.
tracing::Span open_span(int rows, int columns);
/// An info span with two integer fields and, inside, three debug events with two integer fields each.
void request(int rows, int columns);
/// span() as a perf span.
void perf_span(int rows, int columns);
/// The same without a span, for the cost of the loop and the call.
void nothing(int rows, int columns);

void enter_three_spans(void (*f)(void* context), void* context);
/// Calls `f()` inside three info spans with two fields each.
template <class F>
void in_three_spans(F f) {
  enter_three_spans([](void* context) { (*static_cast<F*>(context))(); }, &f);
}

/// An info event with a message and two fields.
void message(int moved, double ratio);

}  // namespace workload
