// Runs of tests, a run being all processes of one ctest, or a process that was started alone. Finds the last run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace environment {

/// The run of a process that runs tests, and what identifies the process.
struct Run {
  /// `<process>-<start>` of the ctest or, without one, of this process; `hunt-` before it if testlog hunt runs the
  /// ctest
  std::string id;
  bool is_ctest = false;
  std::string process{};  ///< `<process>-<start>` of this process
  std::string program{};  ///< a hash of the path of its program: programs in two folders may have one name
};

/// Returns the run of this process. Its ctest is the nearest process of that name among the ancestors of this process.
Run run_of_this_process();

/// The log of runs in a folder of recordings. It gets a line when a process begins to run tests, and another line when
/// the process ends by itself, whether or not its recording stays. So a ctest that only lists tests, or selects no
/// tests, is not in the log. Processes may write at once: their lines say which process writes. The log is `runs.log`
/// and, from 16 MiB on, also `runs.old.log`, so that the last 100,000 processes are known.
class RunLog {
 public:
  explicit RunLog(std::string folder) : folder_(std::move(folder)) {}

  /// `recording` is the name of the file in which the process records, or would have recorded: each test has its own.
  /// It contains no control characters and no `/`. Called before the file is made, so that a process which is killed at
  /// any time is in the log. Does nothing if the folder does not exist.
  void begin(Run const& run, std::string const& recording, Instant time) const noexcept;
  /// Called if the process records in another file, as the file of that name is still in use.
  void take_file(Run const& run, std::string const& recording, std::string const& file, Instant time) const noexcept;
  /// Called when the process ends by itself. It passed if no test failed and its status will not be a failure.
  struct Outcome {
    bool passed = true;
    int tests = 1;   ///< that it ran
    int failed = 0;  ///< of them
  };
  void end(Run const& run, std::string const& recording, Instant time, Outcome outcome) const noexcept;

  struct LoggedRun {
    std::vector<std::string> ids;  ///< the id of the first process comes first
    Instant began;                 ///< recordings that began before belong to earlier runs
    Instant last;                  ///< when its last test began or ended
  };
  /// Returns the runs in the log, the last first, without those of testlog hunt. Runs that overlap in time count as one
  /// run. An IDE may start one ctest for each test, so runs of a single test also count as one run if each begins at
  /// most ten minutes after the one before it.
  std::vector<LoggedRun> runs() const;
  /// Returns why the log cannot be read, as `<path>: Permission denied`; empty if it can be read or does not exist.
  std::string problem() const;
  /// Returns the time when the first process of the run began, or nothing if the log does not have the run.
  std::optional<Instant> first_of(Run const& run) const;

  /// A process of a run. A test that is repeated, as by `ctest --repeat`, has several attempts in one run.
  struct Attempt {
    std::string recording;
    std::string file;  ///< the name of the file: `recording`, unless take_file() was called
    std::string run;
    std::string program;         ///< as in Run; empty in the log of an earlier version of testlog
    int number = 1;              ///< 1 for the first process of the run with this recording and program
    Instant began;               ///< a little before the beginning of the recording
    Instant ended;               ///< equal to `began` if the process did not end by itself
    std::optional<bool> passed;  ///< nothing if the process did not end by itself
    int tests = 1, failed = 0;   ///< as in Outcome; 1 and 0 if the process did not end by itself
  };
  /// Returns the attempts with `recording`, or all attempts if it is empty, in the order in which they began. Reads
  /// only the last `max_bytes` of the log: earlier attempts are neither returned nor counted.
  std::vector<Attempt> attempts(std::string_view recording = {}, std::size_t max_bytes = SIZE_MAX) const;

 private:
  void append(Run const& run, std::string_view recording, Instant time, char const* what, std::string_view file = {},
              std::optional<Outcome> outcome = {}) const noexcept;

  std::string const folder_;
};

/// Empties a regular file that was last written before `time`. Processes that do so at once take turns, so that no
/// process removes what another has just written.
void empty_if_older(std::string const& path, Instant time) noexcept;

}}}  // namespace tracing::v1::environment
