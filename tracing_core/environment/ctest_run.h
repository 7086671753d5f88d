// Runs of tests, a run being all processes of one ctest, or a process that was started alone. Finds the last run.
#pragma once

#include <optional>
#include <string>

#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace environment {

struct Run {
  std::string id;  ///< `<process>-<start>` of the ctest or, without one, of this process
  bool is_ctest = false;
};

/// Returns the run of this process. Its ctest is the nearest process of that name among the ancestors of this process.
Run run_of_this_process();

/// The log of runs in a folder of recordings. It gets a line when a process begins to run tests, and another line when
/// the process ends by itself, whether or not its recording stays. So a ctest that only lists tests, or selects no
/// tests, is not in the log. Processes may write at once. The log is `runs.log` and, from 16 MiB on, also
/// `runs.old.log`, so that the last 100,000 processes are known.
class RunLog {
 public:
  explicit RunLog(std::string folder) : folder_(std::move(folder)) {}

  /// `recording` is the name of the file in which the process records, or would have recorded: each test has its own.
  /// Does nothing if the folder does not exist.
  void begin(Run const& run, std::string const& recording, Instant time) const noexcept;
  void end(Run const& run, std::string const& recording, Instant time, bool passed) const noexcept;

  struct LastRun {
    Instant began;  ///< recordings that began before belong to earlier runs
    Instant last;   ///< when its last test began or ended
  };
  /// Returns the run of the last process in the log, together with all runs that overlap it in time. An IDE may start
  /// one ctest for each test, so also joins the runs of a single test before it, each at most ten minutes before the
  /// next. Returns nothing without a log.
  std::optional<LastRun> last() const;
  /// Returns the time when the first process of the run began, or nothing if the log does not have the run.
  std::optional<Instant> first_of(Run const& run) const;

 private:
  void append(Run const& run, std::string const& recording, Instant time, char const* what) const noexcept;

  std::string const folder_;
};

/// Empties a regular file that was last written before `time`. Processes that do so at once take turns, so that no
/// process removes what another has just written.
void empty_if_older(std::string const& path, Instant time) noexcept;

}}}  // namespace tracing::v1::environment
