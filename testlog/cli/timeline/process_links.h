// links_of(): finds the spans and tests from which processes were started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testlog/cli/timeline/timeline_process.h"

namespace testlog::cli {

/// A span or test that started a process, whose TRACEPARENT names it.
struct ProcessLink {
  std::size_t parent = 0, child = 0;  ///< indices of processes
  std::uint64_t span = 0;             ///< the key in the recording of the parent; 0: a test, or the process itself
  std::uint32_t tag = 0;              ///< of the test; 0: the process itself
  std::string name{};                 ///< of the span, test or process
  Instant begin{};                    ///< of the span, test or process
  bool begin_is_known = true;         ///< false: overwritten, and `begin` is later
};

/// Returns a link for each process whose parent is one of the processes. Reads their recordings once more if any of
/// them has a TRACEPARENT.
std::vector<ProcessLink> links_of(std::vector<TimelineProcess> const& processes);

/// Returns lines that say by how much clocks differ at least: a process cannot begin before the span that starts it.
std::string notes_on_clocks(std::string const& command, std::vector<TimelineProcess> const& processes,
                            std::vector<ProcessLink> const& links, MachineNames const& machines);

}  // namespace testlog::cli
