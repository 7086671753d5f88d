// The instrumented functions that the benchmarks call. They are in another translation unit, like functions of a
// library.
#pragma once

#include <string>

#include "tracing_core/emit/span.h"

namespace workload {

/// Emits a debug event with two integer fields and no message arguments.
void event(int rows, int columns);
/// Emits that event with an integer and a text.
void text_event(int rows, char const* name);
/// Emits that event with five integers.
void five_event(int a, int b, int c, int d, int e);
/// Enters and leaves an info span with two integer fields and nothing inside.
void span(int rows, int columns);
/// Enters and leaves that span with an integer and a text.
void text_span(int rows, char const* name);
/// Makes the span of span() as a handle, which is not entered.
tracing::Span open_span(int rows, int columns);
/// Makes an info span with two integer fields and, inside, three debug events with two integer fields each.
void request(int rows, int columns);
/// Does what span() does, with a perf span.
void perf_span(int rows, int columns);
/// Makes a text of 60 numbers, which takes about a microsecond.
std::string describe(int rows);
/// Emits a debug event with the text of describe() as its field.
void described_event(int rows);
/// Does what span() does, without a span: for the cost of the loop and the call.
void nothing(int rows, int columns);

void enter_three_spans(void (*f)(void* context), void* context);
/// Calls `f()` inside three info spans with two fields each.
template <class F>
void in_three_spans(F f) {
  enter_three_spans([](void* context) { (*static_cast<F*>(context))(); }, &f);
}

void enter_spans(int count, void (*f)(void* context), void* context);
/// Calls `f()` inside `count` info spans.
template <class F>
void in_spans(int count, F f) {
  enter_spans(
      count, [](void* context) { (*static_cast<F*>(context))(); }, &f);
}

/// Emits an info event with a message and two fields.
void message(int moved, double ratio);

}  // namespace workload
