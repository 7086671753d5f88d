// An exception that carries the spans in which it was thrown.
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include <tracing_core/collect/span_trace.h>
#include <tracing_core/tracing.h>

#include "collect.h"

namespace compiler {

void parse(std::string_view source, int line) {
  TRACE_SPAN(debug, "parse", line);
  if (source.empty()) tracing::throw_with_span_trace(std::runtime_error("nothing to parse"));
}

void compile(std::string_view kernel) {
  TRACE_SPAN(info, "compile", kernel);
  parse("", 12);
}

}  // namespace compiler

int main() {
  auto const tracing_guard = examples::init({.filter = "debug"});
  try {
    compiler::compile("double");
  } catch (std::runtime_error const& error) {
    std::printf("%s, in:\n%s\n", error.what(), tracing::span_trace_of(error).to_string().c_str());
  }
}
