// write_xplane(): turns a recording into a profile for xprof and TensorBoard, an XSpace in a `.xplane.pb`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace recording {

struct XplaneOptions {
  std::string hostname{};  // the viewer puts it before the names of planes
  Instant start{};         // from which times count; zero: the beginning of the recording
};

// Writes one process, as draw_timeline() draws it: `/host:CPU` with a line for each thread, `/device:GPU:<n>` with a
// line for each stream, and the Task Environment. Takes memory proportional to the file, since the format puts the
// length of a line before its events. `out` receives the file in blocks.
void write_xplane(TraceSource source, XplaneOptions const& options, std::function<void(std::string_view)> out);

}}}  // namespace tracing::v1::recording
