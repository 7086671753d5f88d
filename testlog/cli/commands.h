// The commands of the program `testlog` and their exit statuses.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace testlog::cli {

/// The program's exit statuses.
enum Status : int {
  kDone = 0,
  kFailed = 1,    ///< nothing to draw, or a file that cannot be read or written
  kBadUsage = 2,  ///< a mistake in the command line
};

/// Reports a mistake in the command line that CLI11 cannot see.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A command of the program. If the command line names it, `run` is called after parsing. `run` reports errors on
/// standard error and returns a Status, or throws UsageError.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// These add a command with its options to the program, which must outlive the command.
Command add_ci_command(CLI::App& program);
Command add_completion_command(CLI::App& program);
Command add_counts_command(CLI::App& program);
Command add_diff_command(CLI::App& program);
Command add_export_command(CLI::App& program);
Command add_flame_command(CLI::App& program);
Command add_hunt_command(CLI::App& program);
Command add_man_command(CLI::App& program);
Command add_open_command(CLI::App& program);
Command add_pack_command(CLI::App& program);
Command add_repair_command(CLI::App& program);
Command add_report_command(CLI::App& program);
Command add_runs_command(CLI::App& program);
Command add_show_command(CLI::App& program);
Command add_slow_command(CLI::App& program);
Command add_stats_command(CLI::App& program);
Command add_summary_command(CLI::App& program);
Command add_tree_command(CLI::App& program);
Command add_why_command(CLI::App& program);

/// Writes a trace of recordings to `output`, as `testlog export --perfetto` does. Reports errors, and what is missing
/// in the recordings, in the name of `command`. Throws UsageError if the directives are wrong.
Status export_perfetto(std::string const& command, std::vector<std::string> const& recordings,
                       std::string const& filter, std::string const& output);

}  // namespace testlog::cli
