// RecordingFile: the file in which a test program records. Decides whether the file stays.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testlog/environment.h"
#include "testlog/framework.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/record/ring/region.h"
#include "tracing_core/support/fork.h"

namespace testlog { inline namespace v1 {

/// Returns the folder of TRACE_RECORD_DEFAULT, whose value is a folder, or a path with %t in its last part; empty if
/// the variable is not set.
std::filesystem::path default_folder(Environment const& environment);

/// The file of TRACE_RECORD or, if this is not set, of TRACE_RECORD_DEFAULT. Single-thread.
class RecordingFile {
 public:
  RecordingFile() = default;
  RecordingFile(RecordingFile const&) = delete;
  RecordingFile& operator=(RecordingFile const&) = delete;

  /// Makes the file. Returns null if no file is wanted or it cannot be made. If the file of TRACE_RECORD cannot be
  /// made, reports it; if the file of TRACE_RECORD_DEFAULT cannot be made, problem() tells, and only a failing test
  /// reports it. If TRACE_RECORD_DEFAULT is set, notes in the log of runs in its folder that this process, which is
  /// part of `run`, runs tests.
  std::unique_ptr<tracing::internal::Region> open(Environment const& environment, Output& output,
                                                  framework::Process const& role, tracing::environment::Run const& run);

  /// Returns the path of the file; empty without a file.
  std::string const& path() const noexcept { return path_; }
  /// Returns 1 for the first process of this run with this recording, and 2 for its first repetition, as by `ctest
  /// --repeat`; 0 without TRACE_RECORD_DEFAULT.
  int attempt() const noexcept { return attempt_; }
  /// Returns true unless TRACE_RECORD asked for the file.
  bool is_default() const noexcept { return is_default_; }
  /// Returns true if TRACE_RECORD_DEFAULT is set and a ctest runs this process: then ctest sums up the failures.
  bool is_of_ctest() const noexcept { return run_.is_ctest; }
  /// Says why the default file could not be made; empty if it was made or was not wanted.
  std::string const& problem() const noexcept { return problem_; }

  /// Returns the paths of the last recordings of this process's tests that passed, the last first; none without
  /// TRACE_RECORD_DEFAULT.
  std::vector<std::string> passed_recordings() const;

  /// Returns when the first process of this process's ctest began; nothing without TRACE_RECORD_DEFAULT or ctest.
  std::optional<tracing::Instant> run_began() const;

  /// Called when tests begin to run: if the process ends meanwhile, the file stays.
  void begin_run() noexcept { is_wanted_ = has_run_ = true; }
  /// Called when all tests have ended: if they passed, the file need not stay.
  void end_run(tracing::environment::RunLog::Outcome const& outcome) noexcept {
    is_wanted_ = !outcome.passed;
    outcome_ = outcome;
  }
  /// Called at the end of the process, with or without a file: removes the file, or cuts it to what is used if it is to
  /// be kept. If TRACE_RECORD_DEFAULT named the file and its tests passed, compresses it to one of the last passing
  /// recordings. `region` is what the process records to; null without memory.
  void finish(tracing::internal::Region* region) noexcept;

 private:
  void log_begin(std::filesystem::path const& folder, tracing::environment::Run const& run, std::string const& name);

  std::string path_, problem_;
  tracing::environment::Run run_;
  std::string folder_of_log_, name_in_log_;  // empty without a log
  int attempt_ = 0;
  bool is_default_ = false;
  bool keeps_all_ = false;
  bool is_wanted_ = false;
  tracing::environment::RunLog::Outcome outcome_;
  bool has_run_ = false;
  int passed_ = 0;  // the number of passing recordings to keep
  unsigned forks_when_made_ = 0;
};

}}  // namespace testlog::v1
