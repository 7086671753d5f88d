#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "testlog/cli/ci/report_run.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/runs/packed_run.h"
#include "testlog/cli/runs/read_summary.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

struct Options {
  std::string run, service;
};

int run(Options const& options) {
  CiSettings const settings = ci_settings(options.service);
  if (settings.service == CiService::none)
    throw std::runtime_error(
        "ci: no CI service that it reports to is found; expected --as or TRACE_CI to name one: github, gitlab, azure, "
        "teamcity, buildkite");
  summary::RunSummary summary;
  bool is_complete = true;
  if (tracing::recording::is_tar(options.run)) {
    PackedRun packed = read_packed_run("ci", {options.run});
    summary = std::move(packed.summary);
    is_complete = packed.is_complete;
  } else {
    summary = read_summary(run_named("ci", options.run.empty() ? "latest" : options.run), kReadAll);
    explain_causes(summary, kMaxExplained, kMaxWhyLines);
  }
  std::string const text = report_to_ci(summary, settings, report_end_of);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flush_output("ci") && is_complete ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
GitHub and Azure show an error for each cause, at the line of the assertion, and a warning for each flaky test; GitLab a
section of the log for each cause; TeamCity the tests. GitHub, Azure and Buildkite also get a summary in Markdown. ctest does
all this at its end, for the tests of testlog_discover_tests(); TRACE_CI=off prevents that.

Examples:
  testlog ci
  testlog ci --as gitlab

Exit status: 0 the run was reported, even if tests failed; 1 there is no such run or service, or a file could not be
read; 2 a mistake in the command line.)";

}  // namespace

Command add_ci_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("ci", "Reports a run to the CI service: annotations, and a summary for the job's page.");
  app->add_option("-R,--run", options->run, "latest, the beginning of an id that testlog runs prints, or a TAR")
      ->default_str("latest");
  app->add_option("--as", options->service,
                  "The service: auto, github, gitlab, azure, teamcity or buildkite; by default what TRACE_CI says")
      ->type_name("SERVICE")
      ->default_str("auto");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
