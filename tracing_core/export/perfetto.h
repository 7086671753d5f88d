// write_perfetto(): makes a trace for ui.perfetto.dev of a recording, in Perfetto's own format.
#pragma once

#include "tracing_core/export/perfetto_packets.h"
#include "tracing_core/export/trace_source.h"

namespace tracing::inline v1::internal {

// Writes one process, as draw_timeline() draws it. Traces of several are joined by appending one to the other. `out` receives
// whole packets.
void write_perfetto(TraceSource source, PerfettoPackets::Out out);

}  // namespace tracing::inline v1::internal
