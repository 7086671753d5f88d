// Runs: all processes of one ctest, or one that was started alone, and which of them was the last to run a test.
#pragma once

#include <optional>
#include <string>

#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

struct Run {
  std::string id;         ///< `<process>-<start>` of the ctest or, without one, of this process
  bool is_ctest = false;
};

/// That of this process. Its ctest is the nearest process of that name among those that started it.
Run run_of_this_process();

/// The log of runs in a folder of recordings: a line when a process begins to run tests, and one when it ends by itself, whether or
/// not its recording stays. So a ctest that only lists tests, or selects none, is not in it. Processes may write at once. It is
/// `runs.log` and, from 16 MiB on, also `runs.old.log`, so that the last 100,000 processes are known.
class RunLog {
 public:
  explicit RunLog(std::string folder) : folder_(std::move(folder)) {}

  /// `recording` is the name of the file in which the process records, or would have recorded: each test has its own. Does nothing
  /// if the folder does not exist.
  void begin(Run const& run, std::string const& recording, Instant time) const noexcept;
  void end(Run const& run, std::string const& recording, Instant time, bool passed) const noexcept;

  struct LastRun {
    Instant began;  ///< recordings that began before are those of earlier runs
    Instant last;   ///< when its last test began or ended
  };
  /// The run of the last process that is in the log, together with all that overlap it in time, and, since an IDE may start one ctest
  /// for each test: with the runs of one test each that were before, each at most ten minutes before the next. None without a log.
  std::optional<LastRun> last() const;
  /// When the first process of the run began; none if the log does not have it.
  std::optional<Instant> first_of(Run const& run) const;

 private:
  void append(Run const& run, std::string const& recording, Instant time, char const* what) const noexcept;

  std::string const folder_;
};

/// Empties a regular file that was last written before `time`. Processes that do so at once take turns, so that none
/// removes what another one has just written.
void empty_if_older(std::string const& path, Instant time) noexcept;

}  // namespace tracing::inline v1::internal
