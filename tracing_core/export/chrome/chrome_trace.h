// write_chrome(): makes a Chrome trace of a recording, as chrome_layer() would have written it.
#pragma once

#include <functional>
#include <string_view>

#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace recording {

struct ChromeTraceOptions {
  Instant start{};  // from which times count; zero: first_time_of() the recording
  // One list may hold several processes, one after another: the first opens the list, and the last closes it.
  bool opens_list = true;
  bool closes_list = true;
};

// Returns when the recording began or, if that is earlier, the time of its first record with an explicit time, such as
// work of a GPU that was launched before. Ignores times more than a day before the beginning: then a clock is wrong.
// Reads the whole recording.
Instant first_time_of(Recording& recording);

// Passes the trace to `out`, in pieces of text: a list of events.
void write_chrome(TraceSource source, ChromeTraceOptions const& options, std::function<void(std::string_view)> out);

}}}  // namespace tracing::v1::recording
