// child_environment(): what a program that this process starts needs to know the span that started it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Returns variables, as names and values, to add to the environment of a program that is started now. They make the
/// program's spans children of the span that the calling thread is in, as W3C's trace context defines it for
/// environments: TRACEPARENT and, if this process got one, TRACESTATE. The environment of this process is not changed.
///
///     for (auto const& [name, value] : tracing::child_environment()) environment.push_back(name + "=" + value);
///
/// The program may use any library that knows trace contexts. A test program, or a program that calls
/// init_from_env(), reads the variables by itself, and `testlog export --otlp` shows its spans below this span.
///
/// Outside of spans, the parent is the running test or, outside of tests, the process. If this process keeps no
/// recording in a file, nobody will see its spans: then these are the variables that the process got itself, and the
/// result is empty if it got none. Thread-safe. Call it before fork(), since it allocates.
std::vector<std::pair<std::string, std::string>> child_environment();

}}  // namespace tracing::v1
