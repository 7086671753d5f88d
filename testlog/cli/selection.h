// Selection: selects recordings, and tests in them, for a command to read.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/run_marks.h"

namespace testlog::cli {

struct RecordedRun;

/// The recordings that a command reads.
struct Inputs {
  std::vector<std::string> paths;  ///< files and folders; empty: the recordings of a run
  std::string run;                 ///< of --run; empty: the last run
};

struct Selection {
  Inputs inputs;
  std::string tests;    ///< patterns for matches_any(); empty: all
  bool failed = false;  ///< only tests that failed or did not end

  /// Returns true if some records are left out.
  bool is_narrow() const noexcept { return failed || !tests.empty(); }
  bool has(RecordedTest const& test) const noexcept {
    return (!failed || test.has_failed()) && (tests.empty() || names(test));
  }
  /// Returns true if `tests` names the test. A name as CTest prints it may contain `:` and `*`, so `tests` may also be
  /// the name itself.
  bool names(RecordedTest const& test) const noexcept {
    auto const is_meant = [this](std::string_view name) { return name == tests || matches_any(name, tests); };
    return is_meant(test.name) || std::any_of(test.ctest_names.begin(), test.ctest_names.end(), is_meant);
  }
};

/// Returns the test whose name is most like the mistyped `name`; empty if none is.
std::string similar_test(std::string const& name, std::vector<std::string_view> const& tests);

/// Returns the inputs. If the only path is no file but has the form of a run's id, or is `latest`, it becomes the run.
Inputs with_run(Inputs inputs);

/// Adds --run to a command, for files_of().
void add_run(CLI::App& command, Inputs& inputs);
/// Adds RECORDING... and --run to a command.
void add_recordings(CLI::App& command, Inputs& inputs);
/// Adds RECORDING..., --run, --test and --failed to a command. Returns --test and --failed.
std::vector<CLI::Option*> add_selection(CLI::App& command, Selection& selection);

/// Returns the files, and in place of a folder or a TAR the recordings in it, `*.rec` and `*.rec.gz`, in the order in
/// which they begin. A recording in a TAR is `run.tar/NAME.rec.gz`. A damaged TAR is in the list, too, so that reading
/// it as a recording fails. Throws std::runtime_error if a folder or a TAR has no recordings, or if no path is named
/// and the run in or below the current folder has left no recordings. Throws UsageError if a name is empty, or if paths
/// and a run are named.
std::vector<std::string> files_of(std::string const& command, Inputs const& inputs);

/// Returns the recordings that a run left in its folder, sorted by name; none if it left none.
std::vector<std::string> files_of_run(std::string const& command, RecordedRun const& run);

/// Throws UsageError if the output is one of the files, a TAR with one of them, or another recording or TAR: a mistake
/// such as `-o *.rec` must not cost the user a recording. With `may_replace_tar`, a TAR that is not read may be
/// replaced.
void check_output(std::string const& command, std::vector<std::string> const& files, std::string const& output,
                  bool may_replace_tar = false);

/// Shows the progress of long work on standard error if that is a terminal, but not for a command that prints its
/// result to standard output while this is a terminal, too.
class Progress {
 public:
  Progress(std::string const& command, std::size_t all, char const* unit = "recordings", bool prints_result = true);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  ~Progress();

  /// Says that `count` more units are done.
  void step(std::size_t count = 1);

 private:
  std::string const command_;
  std::size_t const all_;
  char const* const unit_;
  std::size_t done_ = 0;
  bool const is_wanted_;
  std::int64_t printed_ns_;
  bool is_printed_ = false;
};

}  // namespace testlog::cli
