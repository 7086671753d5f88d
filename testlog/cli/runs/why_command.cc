#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "testlog/summary/run_summary.h"
#include "testlog/why/run_reader.h"
#include "testlog/why/why_text.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {
namespace {

struct Options {
  std::vector<std::string> failing, passing;
  std::string run;
  std::string tests;
  bool json = false;
  Screen screen;
};

// Reads the runs of recordings. Returns false if a file could not be read.
template <class Add>
bool read_all(std::vector<std::string> const& paths, Progress& progress, Add add) {
  bool is_good = true;
  for (std::string const& path : paths) {
    if (auto const file = open_recording("why", path)) {
      add(*file->recording, path);
    } else {
      is_good = false;
    }
    progress.step();
  }
  return is_good;
}

std::string names_of(std::vector<std::string> const& tests) {
  constexpr std::size_t kMaxNames = 5;
  std::string text;
  for (std::size_t i = 0; i < tests.size() && i < kMaxNames; ++i)
    text += (i == 0 ? "" : ", ") + (tests[i].empty() ? std::string("the program") : printable(tests[i]));
  return tests.size() > kMaxNames ? text + " and " + std::to_string(tests.size() - kMaxNames) + " more" : text;
}

// Tests with too few passing runs, by program and framework.
using LackingTests = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

// Returns a sentence about such tests, and the command that records passing runs of them.
std::string text_of_missing_runs(LackingTests const& lacking, Options const& options) {
  constexpr std::size_t kMaxNamed = 5;  // with more tests, the command runs all tests of the program
  std::vector<std::string> all;
  std::string commands;
  for (auto const& [origin, tests] : lacking) {
    auto const& [program, framework] = origin;
    all.insert(all.end(), tests.begin(), tests.end());
    std::string const command = "TRACE_RECORD=passing " + summary::shell_word(program.empty() ? "./program" : program);
    if (tests.front().empty() || tests.size() > kMaxNamed) {
      commands += command + "; ";
      continue;
    }
    // A process for each: a test that crashes would end the others.
    for (std::string const& test : tests) commands += command + " " + summary::selection_of(framework, {test}) + "; ";
  }
  std::string again = "testlog why";
  if (!options.failing.empty()) again += " --failing " + shell_words(options.failing);
  if (!options.run.empty()) again += " --run " + summary::shell_word(options.run);
  if (!options.tests.empty()) again += " --test " + summary::shell_word(options.tests);
  return "testlog why: too few passing runs of " + names_of(all) +
         "; two are needed, to know which values differ in every run. To record three:\n" +
         "  mkdir -p passing; for i in 1 2 3; do " + commands + "done; " + again + " --passing passing\n";
}

std::string notes_of(why::Explanation const& explanation) {
  std::string text;
  std::size_t const failing = explanation.ignored.overwritten_failing;
  std::size_t const passing = explanation.ignored.overwritten_passing;
  if (failing + passing == 0) return text;
  text = "testlog why: " + (explanation.test.empty() ? "" : printable(explanation.test) + ": ");
  text += "records were overwritten in " + std::to_string(failing) + " failing and " + std::to_string(passing);
  return text + " passing runs, so less is compared; TRACE_RECORD_LIMIT keeps more\n";
}

void append_all(tracing::TextBuffer& out, std::vector<why::Explanation> const& explanations, Options const& options) {
  if (!options.json) {
    for (why::Explanation const& one : explanations)
      out.append(why::text_of(one, why::kMaxLines, options.screen.is_coloured()));
    return;
  }
  tracing::InlineTextBuffer<4096> json;
  json.append("{\"tests\":[");
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    if (i > 0) json.push_back(',');
    why::append_json(json, explanations[i]);
  }
  json.append("]}\n");
  tracing::append_sanitized_json(out, json.view());
}

// Returns the recordings of attempts that did not pass.
std::vector<std::string> failing_files(Options const& options) {
  if (!options.failing.empty()) return files_of("why", Inputs{options.failing, {}});
  std::vector<std::string> files = files_of("why", Inputs{{}, options.run});
  std::map<std::filesystem::path, Attempts> by_folder;
  std::erase_if(files, [&by_folder](std::string const& file) {
    std::filesystem::path const folder = std::filesystem::path(file).parent_path();
    Attempts const& attempts = by_folder.try_emplace(folder, folder).first->second;
    Attempts::Attempt const* const attempt = attempts.attempt_of(file);
    return attempt != nullptr && attempt->passed == true;
  });
  return files;
}

std::vector<std::string> passing_files(Options const& options, std::vector<std::string> const& failing) {
  if (!options.passing.empty()) return files_of("why", Inputs{options.passing, {}});
  std::set<std::string> files;  // several attempts of a test have one baseline
  for (std::string const& file : failing)
    for (std::string& passed : baseline_of(file)) files.insert(std::move(passed));
  return {files.begin(), files.end()};
}

int run(Options const& options) {
  if (!options.failing.empty() && !options.run.empty())
    throw UsageError("why: --run selects the failing run; give no --failing beside it");
  std::vector<std::string> const failing = failing_files(options), passing = passing_files(options, failing);
  why::ComparedTests tests;
  Progress progress("why", failing.size() + passing.size(), "recordings", false);
  auto const is_wanted = [&options](std::string_view name) {
    return options.tests.empty() || name == options.tests || matches_any(name, options.tests);
  };
  bool is_good = read_all(failing, progress, [&](tracing::recording::Recording& recording, std::string const& path) {
    why::add_failing_runs(tests, recording, path, is_wanted);
  });
  is_good &= read_all(passing, progress, [&](tracing::recording::Recording& recording, std::string const& path) {
    why::add_passing_runs(tests, recording, path);
  });
  if (tests.empty()) {
    if (is_good)
      report(options.tests.empty() ? "testlog why: no test failed in the recordings of --failing\n"
                                   : "testlog why: no test of --test failed in the recordings of --failing\n");
    return kFailed;
  }
  std::string notes;
  LackingTests lacking;
  std::vector<why::Explanation> explanations;
  for (auto const& [name, runs] : tests) {
    if (runs.passing.size() < why::kMinPassing) {
      why::RunFeatures const& first = runs.failing.front();
      lacking[{first.command.substr(0, first.command.find(' ')), first.framework}].push_back(name);
      continue;
    }
    explanations.push_back(why::explain(name, runs));
    notes += notes_of(explanations.back());
  }
  if (!lacking.empty()) notes += text_of_missing_runs(lacking, options);
  report(notes);
  if (explanations.empty()) return kFailed;
  tracing::InlineTextBuffer<4096> text;
  append_all(text, explanations, options);
  Pager const pager(options.screen);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flush_output("why") && is_good ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
Compares the runs of a test that failed with runs of the same test that passed: values of fields, spans and events that occur,
are missing or occur more often, their order, their threads, errors, and durations. A difference counts only where all passing
runs agree, so ids, ports, addresses and times drop out; and only before the failure. At most ten are printed for each test, the
most likely causes first. Two passing runs are needed, three are better.

Examples:
  testlog why                                         the tests that failed in the last ctest
  testlog why --passing main.tar                      against the run of another machine
  testlog why --failing red.rec --passing green-1.rec green-2.rec green-3.rec
  testlog why --failing red/ --passing green/ --test 'Pool.*'
  testlog why --failing red/ --passing green/ --json | jq '.tests[].entries[0]'

Exit status: 0 a test was compared; 1 a file could not be read, no test failed, or there are too few passing runs; 2 a mistake in
the command line.)";

}  // namespace

Command add_why_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("why", "Compares failing runs of a test with passing ones: what was different.");
  app->add_option(
      "--failing", options->failing,
      "Recordings, or folders of them, of runs that failed; by default of the tests that failed in the last ctest");
  app->add_option(
      "--passing", options->passing,
      "Recordings, or folders of them, of runs that passed; by default the last that were kept of each test");
  app->add_option("-R,--run", options->run,
                  "The failing run: latest, the beginning of an id that testlog runs prints, or a TAR")
      ->default_str("latest");
  app->add_option("--test", options->tests, "Only these tests: names with * and ?, separated by :");
  app->add_flag("--json", options->json, "Prints JSON, with all differences");
  add_screen(*app, options->screen);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
