#include "workload.h"

#include <string>

#include "tracing_core/tracing.h"

namespace workload {

void event(int rows, int columns) { TRACE_DEBUG("step", rows, columns); }

void text_event(int rows, char const* name) { TRACE_DEBUG("step", rows, name); }

void five_event(int a, int b, int c, int d, int e) { TRACE_DEBUG("step", a, b, c, d, e); }

void span(int rows, int columns) {
  TRACE_SPAN(info, "work", rows, columns);
  asm volatile("" ::: "memory");
}

void text_span(int rows, char const* name) {
  TRACE_SPAN(info, "work", rows, name);
  asm volatile("" ::: "memory");
}

tracing::Span open_span(int rows, int columns) { return TRACE_MAKE_SPAN(info, "work", rows, columns); }

void request(int rows, int columns) {
  TRACE_SPAN(info, "request", rows, columns);
  TRACE_DEBUG("received", rows, columns);
  TRACE_DEBUG("looked up", rows, columns);
  TRACE_DEBUG("answered", rows, columns);
}

void perf_span(int rows, int columns) {
  TRACE_PERF("work", rows, columns);
  asm volatile("" ::: "memory");
}

std::string describe(int rows) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += std::to_string(rows + i) + ' ';
  return text;
}
void described_event(int rows) { TRACE_DEBUG("step", tracing::kv("table", describe(rows))); }

void nothing(int rows, int columns) { asm volatile("" ::"r"(rows), "r"(columns) : "memory"); }

void enter_three_spans(void (*f)(void* context), void* context) {
  int const device = 0;
  int const stream = 7;
  TRACE_SPAN(info, "server", device, stream);
  int const count = 64;
  char const* const mode = "checked";
  TRACE_SPAN(info, "launch", count, mode);
  int const grid = 16;
  bool const cached = true;
  TRACE_SPAN(info, "compile", grid, cached);
  f(context);
}

void enter_spans(int count, void (*f)(void* context), void* context) {
  if (count == 0) return f(context);
  TRACE_SPAN(info, "level", count);
  enter_spans(count - 1, f, context);
}

void message(int moved, double ratio) { TRACE_INFO("moved the block", moved, ratio); }

}  // namespace workload
