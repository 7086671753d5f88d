// write_perfetto(): turns a recording into a trace for ui.perfetto.dev, in Perfetto's own format.
#pragma once

#include "tracing_core/export/perfetto/perfetto_packets.h"
#include "tracing_core/export/timeline/trace_source.h"

namespace tracing { inline namespace v1 { namespace recording {

// Writes one process, as draw_timeline() draws it. Traces of several processes are joined by appending them to each
// other. `out` receives whole packets.
void write_perfetto(TraceSource source, PerfettoPackets::Out out);

}}}  // namespace tracing::v1::recording
