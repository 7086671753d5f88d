#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "testlog/why/cause.h"
#include "testlog/why/diff_text.h"
#include "testlog/why/run_reader.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {
namespace {

struct Options {
  std::string a, b;
  std::vector<std::string> passing;
  std::string tests;
  std::size_t lines = 200;
  bool json = false;
  Screen screen;
};

using Trees = std::map<std::string, why::RunTree>;  // by the name of the test

// Reads the tests of both sides, compares them, and prints the result.
class Comparison {
 public:
  explicit Comparison(Options const& options) : options_(options) {}

  // These return false if a file could not be read.
  bool read() {
    std::vector<std::string> const of_a = files_of("diff", {{options_.a}, {}}),
                                   of_b = files_of("diff", {{options_.b}, {}});
    Progress progress("diff", of_a.size() + of_b.size(), "recordings", false);
    auto const names_in_a = [this](std::string const& test) { return is_wanted(test) ? &names_of(test) : nullptr; };
    auto const names_in_b = [this](std::string const& test) -> why::Names const* {
      if (!is_wanted(test)) return nullptr;
      if (a_.contains(test)) return &names_of(test);
      return a_.size() == 1 ? &names_of(a_.begin()->first) : nullptr;  // perhaps two tests are to be compared
    };
    bool const is_good = read_side(of_a, progress, names_in_a, a_);
    return read_side(of_b, progress, names_in_b, b_) && is_good;
  }
  bool read_passing() {
    std::set<std::string> files;
    if (!options_.passing.empty()) {
      for (std::string& file : files_of("diff", Inputs{options_.passing, {}})) files.insert(std::move(file));
    } else {
      for (auto const& [a, b] : pairs()) {
        for (why::RunTree const* const run : {a, b}) {
          for (std::string& file : baseline_of(run->file)) files.insert(std::move(file));
        }
      }
    }
    bool is_good = true;
    for (std::string const& path : files) {
      auto const file = open_recording("diff", path);
      is_good &= file != nullptr;
      if (file) why::add_passing_runs(tests_, *file->recording, path);
    }
    return is_good;
  }

  // Returns the runs of one test, or of the only tests of both sides.
  std::vector<std::pair<why::RunTree*, why::RunTree*>> pairs() {
    std::vector<std::pair<why::RunTree*, why::RunTree*>> all;
    for (auto& [test, run] : a_) {
      if (auto const found = b_.find(test); found != b_.end()) all.emplace_back(&run, &found->second);
    }
    if (all.empty() && a_.size() == 1 && b_.size() == 1) all.emplace_back(&a_.begin()->second, &b_.begin()->second);
    return all;
  }

  // Returns the text or the JSON of all tests.
  std::string result() {
    tracing::InlineTextBuffer<4096> json;
    std::string text;
    std::size_t equal = 0;
    auto const all = pairs();
    for (auto const& [a, b] : all) {
      std::vector<why::RunFeatures> const& passing = tests_[a->test].passing;
      why::Names const names = names_of(a->test);
      why::Noise const noise(names.sites, passing);
      why::ComparedRuns const runs{.a = *a,
                                   .b = *b,
                                   .names = names,
                                   .noise = noise,
                                   .passing = passing.size(),
                                   .diff = why::diff_of(a->tree, b->tree, names.texts, noise)};
      add_notes(runs);
      if (options_.json) {
        json.append(json.view().empty() ? "{\"tests\":[" : ",");
        why::append_json(json, runs);
      } else if (all.size() > 1 && runs.diff.differences == 0) {
        ++equal;
      } else {
        text += why::text_of(runs, options_.lines, options_.screen.is_coloured());
      }
    }
    if (equal > 0) text += std::to_string(equal) + (equal == 1 ? " test has" : " tests have") + " no difference\n";
    if (!options_.json) return text;
    json.append("]}\n");
    tracing::InlineTextBuffer<4096> sanitized;
    tracing::append_sanitized_json(sanitized, json.view());
    return std::string(sanitized.view());
  }
  std::string const& notes() const noexcept { return notes_; }

 private:
  struct Shared {
    why::ValueTexts texts;
    std::optional<why::Names> names;
  };

  bool is_wanted(std::string const& test) const {
    return options_.tests.empty() || test == options_.tests || matches_any(test, options_.tests);
  }

  why::Names const& names_of(std::string const& test) {
    Shared& shared = shared_[test];
    if (!shared.names) shared.names.emplace(why::Names{tests_[test].sites, shared.texts});
    return *shared.names;
  }

  static bool read_side(std::vector<std::string> const& files, Progress& progress,
                        std::function<why::Names const*(std::string const& test)> const& names_of, Trees& trees) {
    bool is_good = true;
    for (std::string const& path : files) {
      auto const file = open_recording("diff", path);
      is_good &= file != nullptr;
      if (file)
        why::read_trees(*file->recording, path, names_of, [&trees](why::RunTree run) {
          std::string const test = run.test;
          trees.insert_or_assign(test, std::move(run));  // the last run counts
        });
      progress.step();
    }
    return is_good;
  }

  void add_notes(why::ComparedRuns const& runs) {
    std::string const name = "testlog diff: " + (runs.a.test.empty() ? "" : printable(runs.a.test) + ": ");
    if (runs.a.lost + runs.b.lost > 0)
      notes_ += name + "records were overwritten, so less is compared; TRACE_RECORD_LIMIT keeps more\n";
    if (runs.passing < why::kMinPassing)
      notes_ += name + "without two further runs that passed (--passing), values that look the same count as equal\n";
  }

  Options const& options_;
  Trees a_, b_;
  why::ComparedTests tests_;  // only runs that passed
  std::map<std::string, Shared> shared_;
  std::string notes_;
};

int run(Options const& options) {
  Comparison comparison(options);
  bool is_good = comparison.read();
  if (comparison.pairs().empty()) {
    if (is_good) report("testlog diff: no test is in both recordings\n");
    return kFailed;
  }
  is_good &= comparison.read_passing();
  std::string const result = comparison.result();
  report(comparison.notes());
  Pager const pager(options.screen);
  std::fwrite(result.data(), 1, result.size(), stdout);
  return flush_output("diff") && is_good ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
Prints one tree of the spans and events of two runs of a test: with - what is in the first run only, with + what is in the second
run only, and equal parts as one line. Values, and numbers of spans and events, that vary in runs that passed are masked, as are
durations that differ by less than four times or 20 ms. Two recordings of one test each are compared even if the tests have
different names.

Examples:
  testlog diff red.rec green.rec
  testlog diff red/ green/ --test Pool.Grows
  testlog diff 51533 latest                           of two runs that testlog runs lists
  testlog diff red.rec green.rec --json | jq .tests[0].differences

Exit status: 0 a test was compared; 1 a file could not be read, or no test is in both; 2 a mistake in the command line.)";

}  // namespace

Command add_diff_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("diff", "Prints in what two runs of a test differ, as one tree.");
  app->add_option("A", options->a, "A recording, a folder or TAR of recordings, or a run as --run takes it")
      ->required();
  app->add_option("B", options->b, "What to compare it with")->required();
  app->add_option(
      "--passing", options->passing,
      "Recordings, or folders of them, of runs that passed; by default the last that were kept of each test");
  app->add_option("--test", options->tests, "Only these tests: names with * and ?, separated by :");
  app->add_option("--lines", options->lines, "Print so many lines of each test at most; 0: all")->capture_default_str();
  app->add_flag("--json", options->json, "Prints JSON, with all lines");
  add_screen(*app, options->screen);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
