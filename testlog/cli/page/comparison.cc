#include "testlog/cli/page/comparison.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "testlog/why/diff_text.h"
#include "testlog/why/run_reader.h"
#include "testlog/why/why_text.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli::page {
namespace {

using tracing::recording::Recording;

constexpr std::uint64_t kMaxCompared = 1'000'000;  // entries of a recording
constexpr std::size_t kMaxDiffLines = 500;

std::unique_ptr<Recording> read(std::string const& file) {
  std::string error;
  auto recording = Recording::read_file(file, error);
  if (recording != nullptr && recording->entry_count() > kMaxCompared) recording = nullptr;
  return recording;
}

// Divides the text of `testlog diff` into rows of two columns.
std::vector<std::array<std::string, 3>> rows_of(std::string_view text) {
  std::vector<std::array<std::string, 3>> rows;
  auto const depth = [](std::string_view line) { return line.find_first_not_of(' '); };
  while (!text.empty()) {
    std::string_view const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.size() < 2 || line.starts_with("---") || line.starts_with("+++")) continue;
    std::string_view const content = line.substr(2);
    bool const is_pair =
        line[0] == '+' && !rows.empty() && rows.back()[0] == "-" && depth(rows.back()[1]) == depth(content);
    if (is_pair) {
      rows.back()[0] = "~";
      rows.back()[2] = content;
    } else if (line[0] == '+' || line[0] == '-') {
      rows.push_back({std::string(1, line[0]), line[0] == '-' ? std::string(content) : "",
                      line[0] == '+' ? std::string(content) : ""});
    } else {
      rows.push_back({"", std::string(line[0] == '.' ? line : content), std::string(line[0] == '.' ? line : content)});
    }
  }
  return rows;
}

// Returns a run of the test: the last one in the file with this result.
std::optional<why::RunTree> tree_of(std::string const& file, std::string const& test, why::Names const& names,
                                    bool has_passed) {
  std::optional<why::RunTree> found;
  auto const recording = read(file);
  if (recording == nullptr) return found;
  why::read_trees(
      *recording, file, [&](std::string const& name) { return name == test ? &names : nullptr; },
      [&](why::RunTree run) {
        if ((run.result == "passed") == has_passed) found.emplace(std::move(run));
      });
  return found;
}

}  // namespace

Comparison compare(std::string const& test, TestSources const& sources) {
  auto const is_passed = [](Source const& source) { return source.result == "passed" || source.result == "skipped"; };
  auto const failed = std::find_if(sources.attempts.begin(), sources.attempts.end(),
                                   [&](Source const& source) { return !source.file.empty() && !is_passed(source); });
  Comparison comparison;
  if (failed == sources.attempts.end()) return comparison;
  std::vector<std::string> passing;
  for (Source const& source : sources.passing.empty() ? sources.attempts : sources.passing)
    if (!source.file.empty() && source.result == "passed") passing.push_back(source.file);
  if (passing.empty()) return comparison;
  why::ComparedTests tests;
  if (auto const recording = read(failed->file))
    why::add_failing_runs(tests, *recording, failed->file, [&test](std::string_view name) { return name == test; });
  for (std::string const& file : passing)
    if (auto const recording = read(file)) why::add_passing_runs(tests, *recording, file);
  auto const found = tests.find(test);
  if (found == tests.end()) return comparison;
  why::ComparedTest& compared = found->second;
  if (compared.passing.size() >= why::kMinPassing) {
    why::Explanation const explanation = why::explain(test, compared);
    for (std::size_t i = 0; i < std::min(why::kMaxLines, explanation.causes.size()); ++i) {
      why::Cause const& cause = explanation.causes[i];
      comparison.why.push_back({.text = why::line_of(cause, explanation.passing),
                                .file = cause.site.file,
                                .line = cause.site.line,
                                .thread = cause.thread,
                                .before_failure_ns = cause.before_failure_ns});
    }
  }
  why::ValueTexts texts;
  why::Names const names{compared.sites, texts};
  auto a = tree_of(failed->file, test, names, false), b = tree_of(passing.front(), test, names, true);
  if (!a || !b) return comparison;
  why::Noise const noise(compared.sites, compared.passing);
  why::ComparedRuns const runs{.a = *a,
                               .b = *b,
                               .names = names,
                               .noise = noise,
                               .passing = compared.passing.size(),
                               .diff = why::diff_of(a->tree, b->tree, texts, noise)};
  comparison.diff = rows_of(why::text_of(runs, kMaxDiffLines, false));
  return comparison;
}

}  // namespace testlog::cli::page
