// What a record costs in a test program, which captures it. The same benchmarks run in tests that show nothing and in
// tests with the default filter.
#pragma once

#include "tracing_core/benchmarks/support.h"
#include "tracing_core/benchmarks/workload.h"

namespace captured {

// Calls `f(i)` inside as many spans.
template <class F>
void below_spans(benchmark::State& state, int spans, F f) {
  int i = 0;
  workload::in_spans(spans, [&] {
    for (auto _ : state) f(i++);
  });
}

inline void event(benchmark::State& state) {
  below_spans(state, 3, [](int i) { workload::event(i, 2); });
}
template <int kSpans>
void event_below(benchmark::State& state) {
  below_spans(state, kSpans, [](int i) { workload::event(i, 2); });
}
inline void text_event(benchmark::State& state) {
  below_spans(state, 3, [](int i) { workload::text_event(i, "checked"); });
}
inline void five_event(benchmark::State& state) {
  below_spans(state, 3, [](int i) { workload::five_event(i, 2, 3, 4, 5); });
}
inline void span(benchmark::State& state) {
  below_spans(state, 0, [](int i) { workload::span(i, 2); });
}
inline void text_span(benchmark::State& state) {
  below_spans(state, 0, [](int i) { workload::text_span(i, "checked"); });
}
// Makes a span with three events.
inline void request(benchmark::State& state) {
  below_spans(state, 0, [](int i) { workload::request(i, 2); });
}

}  // namespace captured
