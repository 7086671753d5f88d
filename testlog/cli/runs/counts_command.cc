#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "testlog/why/counts.h"

namespace testlog::cli {
namespace {

std::vector<std::string> const kDefaultFields{"bytes"};

struct Options {
  Inputs inputs;
  std::vector<std::string> fields = kDefaultFields;
  std::string output = "-";
  std::string against;
};

// Adds all recordings. Returns false if one could not be read.
bool read_all(Options const& options, why::Counts& counts) {
  std::vector<std::string> const files = files_of("counts", options.inputs);
  Progress progress("counts", files.size(), "recordings", false);
  bool is_good = true;
  for (std::string const& path : files) {
    if (auto const file = open_recording("counts", path)) {
      counts.add(*file->recording);
      if (file->recording->lost().count > 0)
        report("testlog counts: " + printable(path) + ": records were overwritten, so its numbers are too small; " +
               "TRACE_RECORD_LIMIT keeps more\n");
    } else {
      is_good = false;
    }
    progress.step();
  }
  return is_good;
}

std::optional<why::Counts> read_counts(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    report("testlog counts: " + printable(path) + ": could not be read\n");
    return std::nullopt;
  }
  std::string error;
  std::optional<why::Counts> counts = why::Counts::parse(text.str(), error);
  if (!counts) report("testlog counts: " + printable(path) + ": " + error + "\n");
  return counts;
}

Status write(Options const& options, why::Counts const& counts) {
  check_output("counts", options.inputs.paths, options.output);
  OutputFile output(options.output);
  output.write(counts.text());
  std::error_code const error = output.finish();
  if (!error) return kDone;
  report("testlog counts: " + printable(options.output) + ": could not be written: " + error.message() + "\n");
  return kFailed;
}

// Returns the command that writes the numbers of these recordings to the file of --against.
std::string accepting_command(Options const& options) {
  std::vector<std::string> words{"testlog", "counts", "-o", options.against};
  if (options.fields != kDefaultFields) {
    std::string fields;
    for (std::string const& field : options.fields) fields.append(fields.empty() ? "" : ",").append(field);
    words.insert(words.end(), {"--sum", fields});
  }
  if (!options.inputs.run.empty()) words.insert(words.end(), {"--run", options.inputs.run});
  words.insert(words.end(), options.inputs.paths.begin(), options.inputs.paths.end());
  return shell_words(words);
}

int run(Options const& options) {
  std::optional<why::Counts> before;
  if (!options.against.empty()) {
    before = read_counts(options.against);
    if (!before) return kFailed;
  }
  why::Counts counts(options.fields);
  if (!read_all(options, counts)) return kFailed;
  if (counts.empty()) {
    report("testlog counts: no test passed in the recordings, or they recorded nothing\n");
    return kFailed;
  }
  if (!before) return write(options, counts);
  std::string const differences = why::text_of_differences(*before, counts);
  std::fwrite(differences.data(), 1, differences.size(), stdout);
  if (!flush_output("counts")) return kFailed;
  if (differences.empty()) return kDone;
  report("testlog counts: to accept the change: " + accepting_command(options) + "\n");
  return kFailed;
}

constexpr char kFooter[] = R"(
Counts how often each test that passed came to each span and event, and adds up the integers in fields. These numbers do not jitter as
times do. Numbers that differ between several runs of a test are left out by themselves, so let each test run three times.

Examples:
  testlog counts -o main.counts runs/                 of each test
  testlog counts --against main.counts runs/          what a change does; fails if any number differs

Exit status: 0 the numbers were written, or are equal; 1 they differ, a file could not be read or written, or no test passed; 2 a
mistake in the command line.)";

}  // namespace

Command add_counts_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("counts", "Counts what tests do, and compares the numbers.");
  add_recordings(*app, options->inputs);
  CLI::Option* const output =
      app->add_option("-o,--output", options->output, "The file for the numbers; -: standard output")
          ->capture_default_str();
  app->add_option("--against", options->against, "Prints how the numbers differ from this file")->excludes(output);
  app->add_option("--sum", options->fields, "Fields whose integers are added up, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
