// Declares the instrumented functions that the benchmarks call: in another translation unit, as a library's would be.
#pragma once

#include <cstdint>

namespace workload {

/// A debug event with two integer fields and no message arguments.
void event(int rows, int columns);
/// An info span with two integer fields, left again at once.
void span(int rows, int columns);
/// The same as a perf span.
void perf_span(int rows, int columns);
/// The same without a span, for the price of the loop and the call.
void nothing(int rows, int columns);

/// Calls `f()` inside three info spans with two fields each.
template <class F>
void in_three_spans(F f);
void enter_three_spans(void (*f)(void* context), void* context);
template <class F>
void in_three_spans(F f) {
  enter_three_spans([](void* context) { (*static_cast<F*>(context))(); }, &f);
}

/// An info event with a message and two fields.
void message(int moved, double ratio);

}  // namespace workload
