// The instrumented functions that the benchmarks call. They are in another translation unit, like functions of a
// library.
#pragma once

#include "tracing_core/emit/span.h"

namespace workload {

/// Emits a debug event with two integer fields and no message arguments.
void event(int rows, int columns);
/// Enters and leaves an info span with two integer fields and nothing inside.
void span(int rows, int columns);
/// Makes the span of span() as a handle, which is not entered.
tracing::Span open_span(int rows, int columns);
/// Makes an info span with two integer fields and, inside, three debug events with two integer fields each.
void request(int rows, int columns);
/// Does what span() does, with a perf span.
void perf_span(int rows, int columns);
/// Does what span() does, without a span: for the cost of the loop and the call.
void nothing(int rows, int columns);

void enter_three_spans(void (*f)(void* context), void* context);
/// Calls `f()` inside three info spans with two fields each.
template <class F>
void in_three_spans(F f) {
  enter_three_spans([](void* context) { (*static_cast<F*>(context))(); }, &f);
}

/// Emits an info event with a message and two fields.
void message(int moved, double ratio);

}  // namespace workload
