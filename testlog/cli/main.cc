// The program `testlog`: inspects the output of traced programs.
#include <signal.h>

#include <exception>
#include <string>

#include "testlog/cli/commands.h"
#include "testlog/cli/terminal.h"

namespace testlog::cli { namespace {

constexpr char kHelpHint[] = "`testlog --help` and `testlog COMMAND --help` list the options.\n";

// Reports an unknown command, which CLI11 would report as a missing command.
void check_command(CLI::App const& program, std::string const& first) {
  if (first.empty() || first.front() == '-') return;
  std::string names;
  for (CLI::App const* const command : program.get_subcommands([](CLI::App const*) { return true; })) {
    if (command->get_name() == first) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw UsageError("unknown command '" + first + "'; expected one of " + names);
}

int run(int argc, char** argv) {
  CLI::App program("Inspects the output of traced programs.", "testlog");
  program.set_version_flag("--version", TESTLOG_VERSION);
  program.require_subcommand(1);
  program.failure_message([](CLI::App const* app, CLI::Error const& error) {
    return app->get_name() + ": " + error.what() + '\n' + kHelpHint;
  });
  Command const commands[] = {add_show_command(program),      add_runs_command(program),   add_summary_command(program),
                              add_ci_command(program),        add_why_command(program),    add_diff_command(program),
                              add_tree_command(program),      add_slow_command(program),   add_stats_command(program),
                              add_counts_command(program),    add_export_command(program), add_open_command(program),
                              add_pack_command(program),      add_flame_command(program),  add_report_command(program),
                              add_hunt_command(program),      add_repair_command(program), add_man_command(program),
                              add_completion_command(program)};
  try {
    if (argc > 1) check_command(program, argv[1]);
    program.parse(argc, argv);
    for (Command const& command : commands) {
      if (command.app->parsed()) return command.run();
    }
    return kBadUsage;  // unreachable: a command is required
  } catch (CLI::ParseError const& error) {
    return program.exit(error) == 0 ? kDone : kBadUsage;
  } catch (UsageError const& error) {
    report(std::string("testlog: ") + error.what() + "\n" + kHelpHint);
    return kBadUsage;
  }
}

}}  // namespace testlog::cli

int main(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // so that write() returns an error at RLIMIT_FSIZE
  try {
    return testlog::cli::run(argc, argv);
  } catch (std::exception const& error) {
    testlog::cli::report(std::string("testlog: ") + error.what() + "\n");
    return testlog::cli::kFailed;
  }
}
