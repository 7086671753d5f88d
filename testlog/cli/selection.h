// Selection: which recordings, and which tests of them, a command reads.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "testlog/cli/run_marks.h"
#include "tracing_core/model/instant.h"

namespace testlog::cli {

struct Selection {
  std::vector<std::string> paths;  ///< files and folders; empty: what the last ctest run left
  std::string tests;               ///< patterns as matches_any() takes them; empty: all
  bool failed = false;             ///< only tests that failed or did not end

  /// Whether some records are left out.
  bool is_narrow() const noexcept { return failed || !tests.empty(); }
  bool has(RecordedTest const& test) const noexcept {
    return (!failed || test.has_failed()) && (tests.empty() || matches_any(test.name, tests));
  }
};

/// Adds RECORDING... to a command, for files_of().
void add_recordings(CLI::App& command, std::vector<std::string>& paths);
/// Adds RECORDING..., --test and --failed to a command. Returns --test and --failed.
std::vector<CLI::Option*> add_selection(CLI::App& command, Selection& selection);

/// The files, and in place of folders the recordings in them, `*.rec`, in the order in which they begin. Throws
/// std::runtime_error if a folder has none, or if none is named and no ctest in or below the current one has left any, and
/// UsageError if a name is empty.
std::vector<std::string> files_of(std::string const& command, std::vector<std::string> const& paths);

/// When a recording began; none if it cannot be read.
std::optional<tracing::Instant> start_of(std::string const& file);

/// Shows the progress of long work on standard error if that is a terminal. A command that prints its result does not show
/// it if standard output is a terminal, too.
class Progress {
 public:
  Progress(std::string const& command, std::size_t all, char const* unit = "recordings", bool prints_result = true);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  ~Progress();

  /// `count` more are done.
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
