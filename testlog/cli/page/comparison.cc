#include "testlog/cli/page/comparison.h"

#include <algorithm>
#include <cstdint>
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
constexpr std::size_t kMaxRows = 500;

std::unique_ptr<Recording> read(std::string const& file) {
  std::string error;
  auto recording = Recording::read_file(file, error);
  if (recording != nullptr && recording->entry_count() > kMaxCompared) recording = nullptr;
  return recording;
}

using Row = std::array<std::string, 3>;
using why::DiffLine;
using why::Mark;

// Makes rows of the lines of `testlog diff`, those first that the failing run reached.
//
// A line that is only in the passing run was not reached if it is inside nothing, or inside a span that had not ended
// when the failing run failed, and if no line that the failing run has comes after it there. Threads begin in any
// order, so a whole thread was not reached, whatever comes after it.
class DiffTable {
 public:
  DiffTable(why::ComparedRuns const& runs, std::int64_t failure_ns)
      : runs_(runs), lines_(runs.diff.lines), failure_ns_(failure_ns) {
    make_rows();
    find_around();
    find_unreached();
  }

  void add_to(Comparison& comparison) {
    std::vector<Row>& rows = comparison.diff;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (is_unreached_[i]) continue;
      is_shown_[i] = true;
      rows.push_back(rows_[i]);
    }
    bool const is_equal = std::none_of(rows.begin(), rows.end(), [](Row const& row) { return !row[0].empty(); });
    if (is_equal) {
      rows.clear();
      is_shown_.assign(lines_.size(), false);
      comparison.note = "No difference until the failing run ended, thread by thread. ";
    }
    bool const is_whole = std::find(is_unreached_.begin(), is_unreached_.end(), true) == is_unreached_.end();
    if (!is_whole) rows.push_back({"=", "What the failing run did not reach", ""});
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (is_unreached_[i]) add_with_around(i, rows);
    if (rows.size() <= kMaxRows) return;
    comparison.note += std::to_string(rows.size() - kMaxRows) + " further rows are left out; testlog diff prints them.";
    rows.resize(kMaxRows);
  }

 private:
  static constexpr std::size_t kNothing = SIZE_MAX;

  static bool is_added(DiffLine const& line) noexcept {
    return line.mark == Mark::added || (line.mark == Mark::more && line.a == why::kNone);
  }

  // Divides the text of `testlog diff`, which has two lines for each change and one for each other line.
  void make_rows() {
    std::string const all = why::text_of(runs_, 0, false);
    std::string_view left = all;
    auto const next = [&left] {
      std::string_view const line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(left.size(), line.size() + 1));
      return std::string(line.substr(std::min<std::size_t>(line.size(), 2)));
    };
    next();  // two headlines
    next();
    for (DiffLine const& line : lines_) {
      std::string text = next();
      bool const is_removed = line.mark == Mark::removed || (line.mark == Mark::more && !is_added(line));
      if (line.mark == Mark::changed) {
        rows_.push_back({"~", std::move(text), next()});
      } else if (is_added(line)) {
        rows_.push_back({"+", "", std::move(text)});
      } else if (is_removed) {
        rows_.push_back({"-", std::move(text), ""});
      } else {
        rows_.push_back({"", text, text});
      }
    }
  }

  void find_around() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      while (!open.empty() && lines_[open.back()].depth >= lines_[i].depth) open.pop_back();
      around_.push_back(open.empty() ? kNothing : open.back());
      open.push_back(i);
    }
  }

  bool is_open_at_failure(std::size_t line) const {
    if (line == kNothing) return true;
    if (lines_[line].a == why::kNone) return false;
    why::TreeNode const& node = runs_.a.tree.node(lines_[line].a);
    return !node.is_thread() && (node.is_open || node.begin_ns + node.duration_ns >= failure_ns_);
  }

  void find_unreached() {
    is_unreached_.assign(lines_.size(), false);
    is_shown_.assign(lines_.size(), false);
    std::vector<bool> is_followed;  // by depth
    for (std::size_t i = lines_.size(); i-- > 0;) {
      DiffLine const& line = lines_[i];
      is_followed.resize(line.depth + 1);
      if (!is_added(line)) {
        is_followed[line.depth] = true;
      } else {
        bool const is_thread = line.b != why::kNone && runs_.b.tree.node(line.b).is_thread();
        is_unreached_[i] = (is_thread || !is_followed[line.depth]) && is_open_at_failure(around_[i]);
      }
    }
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (around_[i] != kNothing && is_added(lines_[around_[i]])) is_unreached_[i] = is_unreached_[around_[i]];
  }

  // Adds a row, before it the rows of the spans around it.
  void add_with_around(std::size_t line, std::vector<Row>& rows) {
    if (around_[line] != kNothing && !is_shown_[around_[line]]) add_with_around(around_[line], rows);
    is_shown_[line] = true;
    rows.push_back(rows_[line]);
  }

  why::ComparedRuns const& runs_;
  std::vector<DiffLine> const& lines_;
  std::int64_t const failure_ns_;
  std::vector<Row> rows_;            // of each line
  std::vector<std::size_t> around_;  // the line of the span around each line
  std::vector<bool> is_unreached_, is_shown_;
};

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
  comparison.note = "No run that passed was kept, so nothing is compared.";
  if (failed == sources.attempts.end()) return comparison;
  std::vector<std::string> passing;
  for (Source const& source : sources.passing.empty() ? sources.attempts : sources.passing)
    if (!source.file.empty() && source.result == "passed") passing.push_back(source.file);
  if (passing.empty()) return comparison;
  comparison.note = "Recordings that cannot be read, or have more than a million records, are not compared.";
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
  comparison.note.clear();
  DiffTable(runs, compared.failing.empty() ? INT64_MIN : compared.failing.back().failure.ns).add_to(comparison);
  return comparison;
}

}  // namespace testlog::cli::page
