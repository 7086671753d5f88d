// RecordingFile: the file in which a test program records, and whether it stays.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "testlog/environment.h"
#include "testlog/internal/process.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/record/region.h"

namespace testlog::inline v1 {

/// Where TRACE_RECORD_DEFAULT, a folder or a path with %t, lets tests record; empty if it is not set.
std::filesystem::path default_folder(Environment const& environment);

/// That of TRACE_RECORD or else of TRACE_RECORD_DEFAULT. Single-thread.
class RecordingFile {
 public:
  RecordingFile() = default;
  RecordingFile(RecordingFile const&) = delete;
  RecordingFile& operator=(RecordingFile const&) = delete;

  /// Makes the file; null if there is none. That of TRACE_RECORD is reported if it cannot be made; that of
  /// TRACE_RECORD_DEFAULT only by a test that fails, see problem(). If the latter is set, the log of runs in its folder says that
  /// this process, which is part of `run`, runs tests.
  std::unique_ptr<tracing::internal::Region> open(Environment const& environment, Output& output,
                                                  internal::ProcessRole const& role, tracing::internal::Run const& run);

  /// Empty if there is none.
  std::string const& path() const noexcept { return path_; }
  /// Whether nobody asked for the file by TRACE_RECORD.
  bool is_default() const noexcept { return is_default_; }
  /// Why there is no default file; empty if there is, or if none was wanted.
  std::string const& problem() const noexcept { return problem_; }

  /// When the first process of this one's ctest began; none without TRACE_RECORD_DEFAULT or a ctest.
  std::optional<tracing::Instant> run_began() const;

  /// Tests begin to run, in which the process may end.
  void begin_run() noexcept { is_wanted_ = true; }
  /// All tests have ended.
  void end_run(bool passed) noexcept { is_wanted_ = !passed; }
  /// To be called at the end of the process, also if there is no file: removes the file unless it is to be kept.
  void finish() noexcept;

 private:
  void log_begin(Environment const& environment, tracing::internal::Run const& run, std::string const& name, tracing::Instant time);

  std::string path_, problem_;
  tracing::internal::Run run_;
  std::string folder_of_log_, name_in_log_;  // empty: there is no log
  bool is_default_ = false;
  bool keeps_all_ = false;
  bool is_wanted_ = false;
  unsigned forks_when_made_ = 0;
};

}  // namespace testlog::inline v1
