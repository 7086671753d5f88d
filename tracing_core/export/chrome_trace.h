// write_chrome(): makes a Chrome trace of a recording, as chrome_layer() would have written it.
#pragma once

#include <functional>
#include <string_view>

#include "tracing_core/export/trace_source.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

struct ChromeTraceOptions {
  Instant start{};  // from which times count; zero: first_time_of() the recording
  // A list may have the records of several processes, one after the other.
  bool opens_list = true;
  bool closes_list = true;
};

// When the recording began, or when the first of its records with times of their own did, such as work of a GPU that was
// launched before. Not more than a day earlier: then a clock is wrong. Reads the recording.
Instant first_time_of(Recording& recording);

// `out` receives a list of events as text.
void write_chrome(TraceSource source, ChromeTraceOptions const& options, std::function<void(std::string_view)> out);

}  // namespace tracing::inline v1::internal
