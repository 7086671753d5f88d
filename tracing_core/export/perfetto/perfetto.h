// write_perfetto(): turns a recording into a trace for ui.perfetto.dev, in Perfetto's own format.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/perfetto/perfetto_packets.h"
#include "tracing_core/export/timeline/trace_source.h"

namespace tracing { inline namespace v1 { namespace recording {

// Arrows between the processes of a file, from what started a process to the process. Each arrow has a number.
struct ProcessArrows {
  using Numbers = std::vector<std::uint64_t>;
  std::unordered_map<std::uint64_t, Numbers> from_spans{};  // by key
  std::unordered_map<std::uint32_t, Numbers> from_tests{};  // by tag
  std::uint64_t to_process = 0;                             // zero: no arrow leads here
  std::string started_by{};  // the name of a mark at the beginning of the process; empty: no mark
};

// Writes one process, as draw_timeline() draws it. Traces of several processes are joined by appending them to each
// other. `out` receives whole packets.
void write_perfetto(TraceSource source, PerfettoPackets::Out out, ProcessArrows arrows = {});

}}}  // namespace tracing::v1::recording
