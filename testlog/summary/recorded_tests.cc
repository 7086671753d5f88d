#include "testlog/summary/recorded_tests.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"
#include "tracing_core/record/tests.h"

namespace testlog::summary {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::text_of_field;

constexpr std::size_t kMaxMessageBytes = 32 * 1024;

// A test whose recording is being read.
struct Test {
  TestOutcome outcome;
  std::string result;  // of its end; empty until then
  bool has_failed = false, has_crashed = false, was_running_long = false;
};

// Removes the values from a path of spans: `request{id=7}:load` becomes `request:load`. A value in quotes may contain
// anything.
std::string without_values(std::string_view path) {
  std::string names;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    char const c = path[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      is_quoted = c != '"';
    } else if (depth > 0 && c == '"') {
      is_quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      names.push_back(c);
    }
  }
  return names;
}

std::string first_line_of(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// Returns the message of an event, or its first field, with its target: `pool: cannot grow`.
std::string text_of_event(Entry const& event) {
  tracing::FieldValues const fields = event.fields();
  tracing::InlineTextBuffer<256> text;
  text.append(event.metadata->target());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).is_empty()) continue;
    text.append(": ");
    if (fields.name(i) != "message") text.append(fields.name(i)), text.push_back('=');
    tracing::append_message(text, fields.value(i));
    break;
  }
  return first_line_of(text.view());
}

std::string place_of(std::string_view file, std::int64_t line) {
  if (file.empty()) return {};
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(line);
}

int line_of(Entry const& mark) { return std::atoi(text_of_field(mark, "line").c_str()); }

Result result_of(Test const& test) {
  if (test.has_crashed) return Result::crashed;
  if (!test.result.empty())
    return test.has_failed ? Result::failed : test.result == "skipped" ? Result::skipped : Result::passed;
  if (test.outcome.name.empty()) return test.has_failed ? Result::failed : Result::passed;
  return test.was_running_long ? Result::hung : Result::unfinished;
}

// Collects the tests of a recording by their tags; tag 0 collects what happens outside of tests.
class Tests {
 public:
  void add(Entry const& entry) {
    if (entry.type == EntryType::mark) return add_mark(entry);
    if (entry.type != EntryType::event || entry.metadata->level() != tracing::Level::error) return;
    Test& test = tests_[entry.tag];
    if (test.has_failed) return;
    set_error(test.outcome, entry);
  }

  std::vector<TestOutcome> outcomes(std::string const& file) && {
    std::vector<TestOutcome> outcomes;
    for (auto& [tag, test] : tests_) {
      TestOutcome& outcome = test.outcome;
      if (outcome.name.empty() && !test.has_failed) continue;
      outcome.result = result_of(test);
      if (is_failure(outcome.result) && outcome.how.empty())
        outcome.how = test.has_failed ? "failed" : outcome.result == Result::hung ? "hung" : "did not end";
      outcome.tag = tag;
      outcome.recording = file;
      outcome.command = command_;
      outcome.framework = framework_;
      outcome.directory = directory_;
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

 private:
  void begin_test(Entry const& mark) {
    TestOutcome& outcome = tests_[mark.tag].outcome;
    outcome.name = text_of_field(mark, "test");
    outcome.file = text_of_field(mark, "file");
    outcome.line = line_of(mark);
    tag_of_[outcome.name] = mark.tag;
  }
  void end_test(Test& test, Entry const& mark) {
    test.result = text_of_field(mark, "result");
    test.has_failed |= test.result == "failed";
    constexpr long long kMax = INT64_MAX / 1'000'000;
    test.outcome.duration_ns =
        std::clamp(std::atoll(text_of_field(mark, "duration_ms").c_str()), 0LL, kMax) * 1'000'000;
  }
  void add_mark(Entry const& mark) {
    std::string_view const name = mark.metadata->name();
    if (tracing::recording::is_test_begin(mark)) return begin_test(mark);
    if (name == "process") {
      command_ = text_of_field(mark, "command");
      directory_ = text_of_field(mark, "directory");
      framework_ = text_of_field(mark, "framework");
      return;
    }
    auto const found = tag_of_.find(text_of_field(mark, "test"));
    Test& test = tests_[found == tag_of_.end() ? 0 : found->second];
    if (tracing::recording::is_test_end(mark)) {
      end_test(test, mark);
    } else if (name == "failure" && !test.has_failed) {
      test.has_failed = true;
      set_failure(test.outcome, text_of_field(mark, "file"), line_of(mark), text_of_field(mark, "message"));
    } else if (name == "skip" && !test.has_failed) {
      test.outcome.message = text_of_field(mark, "message");
    } else if (name == "signal") {
      test.has_failed = true;
      test.outcome.how = text_of_field(mark, "signal");
      test.has_crashed = test.outcome.how != "SIGTERM" && test.outcome.how != "SIGINT";
    } else if (name == "exit" && test.outcome.how.empty()) {
      test.outcome.how = "the process called exit()";
    } else if (name == "still_running") {
      test.was_running_long = true;
    } else if (name == "property" && text_of_field(mark, "name") == "trace_span_path") {
      set_span_path(test.outcome, text_of_field(mark, "value"));
    }
  }

  std::map<std::uint32_t, Test> tests_;
  std::map<std::string, std::uint32_t> tag_of_;  // by name; if tests share a name, the tag of the last
  std::string command_, directory_, framework_;
};

}  // namespace

void set_failure(TestOutcome& test, std::string_view file, int line, std::string_view message) {
  test.message = cut(message, kMaxMessageBytes);
  if (test.how.empty()) test.how = first_line_of(test.message);
  test.place = place_of(file, line);
  if (file.empty()) return;
  test.file = file;
  test.line = line;
}

void set_span_path(TestOutcome& test, std::string path) {
  test.spans = without_values(path);
  test.span_path = std::move(path);
}

void set_error(TestOutcome& test, Entry const& event) {
  test.error = text_of_event(event);
  test.error_place = place_of(event.metadata->file(), event.metadata->line());
}

std::vector<TestOutcome> tests_in(tracing::recording::Recording& recording, std::string const& file) {
  Tests tests;
  recording.for_each([&tests](Entry const& entry) { tests.add(entry); });
  return std::move(tests).outcomes(file);
}

}  // namespace testlog::summary
