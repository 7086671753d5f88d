// read_timeline(): the processes of runs, as recordings and the log of runs tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testlog/cli/selection.h"
#include "testlog/summary/run_summary.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/model/instant.h"

namespace testlog::cli {

using tracing::Instant;

/// A process that ran tests, or any other program.
struct TimelineProcess {
  std::string path{};                                ///< of the recording; empty: the process left none
  std::string name{};                                ///< of its only test, or of its recording
  std::string host{}, boot{};                        ///< empty: not known
  std::string run{};                                 ///< the id of its run of tests; empty: it runs no tests
  summary::Result result = summary::Result::passed;  ///< the worst of its tests
  Instant begin{}, end{};
  tracing::environment::TraceIdentity identity{};

  bool has_failed() const noexcept { return summary::is_failure(result); }
  std::int64_t duration_ns() const noexcept { return end.ns - begin.ns; }
};

struct Timeline {
  std::vector<TimelineProcess> processes{};  ///< in the order in which they began
  std::string build_folder{};                ///< of the run; empty: recordings were named, or it is an earlier run
  bool has_log = false;                      ///< tests that left no recording are there, too
  bool is_complete = true;                   ///< all recordings could be read
};

/// Reads the recordings that `inputs` names. Of a run in a build folder, which has a log of runs, adds the processes
/// that left no recording, since their tests passed. Reports recordings that cannot be read. Throws as files_of() does,
/// but not if a run has a log and left no recordings.
Timeline read_timeline(std::string const& command, Inputs const& inputs);

/// Returns a line if the recordings seem to lack the tests that passed, and no log has them; otherwise nothing.
std::string note_on_passed(std::string const& command, Timeline const& timeline);

/// Names machines: a host or, if machines have one host name, `host (boot 1f3c9aa0)`. Containers have host names of
/// their own, but the boot id of the machine that they run on.
class MachineNames {
 public:
  explicit MachineNames(std::vector<TimelineProcess> const& processes);
  /// Returns an empty name if the host is not known.
  std::string name_of(TimelineProcess const& process) const;

 private:
  std::vector<std::string> shared_;  // host names that several machines have, sorted
};

}  // namespace testlog::cli
