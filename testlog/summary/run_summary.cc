#include "testlog/summary/run_summary.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"
#include "tracing_core/support/utf8.h"

namespace testlog::summary {
namespace {

using tracing::sanitized_in_line;
using tracing::support::counted;

constexpr std::size_t kMaxCauses = 10;
constexpr std::size_t kMaxFlaky = 10;

// Returns a key that failures of one cause share. It has only the innermost span, since tests may come to it by several
// ways, and no values of the error.
std::string key_of(TestOutcome const& test) {
  std::string const innermost = test.spans.substr(test.spans.rfind(':') + 1);
  return innermost + '\n' + (test.error.empty() ? test.how + test.place : test.error_place);
}

// Returns true if a shell takes the text as one word that is nothing else.
bool is_word(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:=,+@%-").find(c) != std::string_view::npos;
  });
}

void append_causes(std::string& text, RunSummary const& run) {
  for (std::size_t i = 0; i < std::min(kMaxCauses, run.causes.size()); ++i) {
    Cause const& cause = run.causes[i];
    text += fmt::format("  {}: {} ({})\n", counted(cause.tests.size(), "test"), sanitized_in_line(cause.text),
                        sanitized_in_line(names_of(run, cause)));
    if (!cause.why.empty()) text += fmt::format("    why: {}\n", sanitized_in_line(cause.why.front()));
  }
  if (run.causes.size() > kMaxCauses) text += fmt::format("  ... {} more causes\n", run.causes.size() - kMaxCauses);
  if (run.unread > 0) text += fmt::format("  {} were not read\n", counted(run.unread, "more recording"));
}

void append_flaky(std::string& text, RunSummary const& run) {
  std::size_t printed = 0;
  for (TestOutcome const& test : run.tests) {
    if (!test.is_flaky || ++printed > kMaxFlaky) continue;
    text += fmt::format("  flaky: {}: {}\n", sanitized_in_line(test.key), flaky_text(test));
  }
}

}  // namespace

std::string_view name(Result result) noexcept {
  switch (result) {
    case Result::passed: return "passed";
    case Result::skipped: return "skipped";
    case Result::failed: return "failed";
    case Result::crashed: return "crashed";
    case Result::hung: return "hung";
    case Result::unfinished: return "did not end";
  }
  return {};
}

std::string text_of_cause(TestOutcome const& test) {
  if (test.how.empty()) return {};
  std::string what = test.error;
  if (what.empty()) what = test.place.empty() ? test.how : "failed at " + test.place;
  return test.spans.empty() ? what : test.spans + ": " + what;
}

std::vector<Cause> causes_of(std::vector<TestOutcome> const& tests) {
  std::vector<Cause> causes;
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (!is_failure(tests[i].result) || tests[i].how.empty()) continue;
    auto const [at, is_new] = index_of.try_emplace(key_of(tests[i]), causes.size());
    if (is_new) causes.push_back({.text = text_of_cause(tests[i])});
    causes[at->second].tests.push_back(i);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](Cause const& a, Cause const& b) { return a.tests.size() > b.tests.size(); });
  return causes;
}

std::string name_of(TestOutcome const& test) {
  if (!test.name.empty()) return test.name;
  return test.key.empty() ? "outside any test" : test.key + " (outside any test)";
}

std::string counts_of(RunSummary const& run) {
  std::string const failed = fmt::format("{} of {} failed", run.failed_count, counted(run.test_count, "test"));
  return run.flaky_count == 0 ? failed : failed + fmt::format(", {} flaky", run.flaky_count);
}

std::string names_of(RunSummary const& run, Cause const& cause, std::size_t max_names) {
  std::string names;
  for (std::size_t i = 0; i < std::min(max_names, cause.tests.size()); ++i)
    names += (i == 0 ? "" : ", ") + name_of(run.tests[cause.tests[i]]);
  return cause.tests.size() > max_names ? names + ", ..." : names;
}

std::string flaky_text(TestOutcome const& test) {
  int failed = 0, passed = 0;
  for (TestAttempt const& attempt : test.attempts) (is_failure(attempt.result) ? failed : passed) = attempt.number;
  return test.is_flaky ? fmt::format("attempt {} failed, attempt {} passed", failed, passed) : "";
}

std::string cut(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kEnd = "...";
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t const room = max_bytes - std::min(max_bytes, kEnd.size());
  return std::string(text.substr(0, tracing::support::char_start(text, room))).append(kEnd.substr(0, max_bytes));
}

std::string on_one_line(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string line;
  for (char const c : text) {
    bool const is_blank = kBlanks.find(c) != kBlanks.npos;
    if (!is_blank) line += c;
    if (is_blank && !line.empty() && line.back() != ' ') line += ' ';
    if (line.size() > max_bytes + 1) break;
  }
  if (line.ends_with(' ')) line.pop_back();
  return cut(line, max_bytes);
}

std::string shell_word(std::string_view text) {
  std::string const safe = sanitized_in_line(text);
  if (is_word(safe)) return safe;
  std::string quoted = "'";
  for (char const c : safe) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string selection_of(std::string_view framework, std::vector<std::string> const& tests) {
  bool const is_catch2 = framework.starts_with("Catch2"), is_doctest = framework.starts_with("doctest");
  std::string_view const special = is_catch2 ? ",[\\\"" : is_doctest ? ",\\" : ":*-";
  std::string list;
  for (std::string const& test : tests) {
    if (!list.empty()) list += is_catch2 || is_doctest ? ',' : ':';
    for (char const c : test) {
      bool const is_special = special.find(c) != special.npos;
      if (is_special && (is_catch2 || is_doctest)) list += '\\';
      list += is_special && !is_catch2 && !is_doctest ? '?' : c;  // GoogleTest has no escapes
    }
  }
  return (is_catch2 ? "" : is_doctest ? "--test-case=" : "--gtest_filter=") + shell_word(list);
}

std::string rerun_command(TestOutcome const& test) {
  if (test.name.empty()) return {};
  bool const is_whole_name = test.ctest.find('~') == test.ctest.npos;  // no characters are replaced
  if (!test.ctest.empty() && is_whole_name) return "ctest -R " + shell_word("^" + test.ctest + "$");
  if (test.name.find('/') == test.name.npos) return "ctest -R " + shell_word(test.name);
  std::string const path = test.command.substr(0, test.command.find(' '));
  return shell_word(path.empty() ? test.program : path) + " " + selection_of(test.framework, {test.name});
}

std::string text_of(RunSummary const& run) {
  if (run.is_green()) return {};
  std::string text = "testlog: " + counts_of(run);
  text += run.causes.empty() ? "\n" : fmt::format("; {}:\n", counted(run.causes.size(), "cause"));
  append_causes(text, run);
  append_flaky(text, run);
  if (!run.commands.empty()) text += fmt::format("testlog: read on: {}\n", fmt::join(run.commands, ", "));
  return text;
}

}  // namespace testlog::summary
