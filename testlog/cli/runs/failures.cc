#include "testlog/cli/runs/failures.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "testlog/cli/run_marks.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace testlog::cli {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;

// A test whose recording is being read.
struct Test {
  Failure failure;
  bool has_failed = false;
  bool has_ended = false;
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

std::string place_of(std::string_view file, std::string const& line) {
  if (file.empty()) return {};
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + line;
}

// Collects the tests of a recording by their tags; tag 0 collects what happens outside of tests.
class Tests {
 public:
  void add(Entry const& entry) {
    if (entry.type == EntryType::mark) return add_mark(entry);
    if (entry.type != EntryType::event || entry.metadata->level() != tracing::Level::error) return;
    Test& test = tests_[entry.tag];
    if (test.has_failed) return;
    test.failure.error = text_of_event(entry);
    test.failure.error_place = place_of(entry.metadata->file(), std::to_string(entry.metadata->line()));
  }

  std::vector<Failure> failures(std::string const& file) && {
    std::vector<Failure> failures;
    for (auto& [tag, test] : tests_) {
      if (!test.has_failed && (tag == 0 || test.has_ended || test.failure.test.empty())) continue;
      if (test.failure.how.empty()) test.failure.how = test.has_failed ? "failed" : "did not end";
      test.failure.file = file;
      failures.push_back(std::move(test.failure));
    }
    return failures;
  }

 private:
  void add_mark(Entry const& mark) {
    std::string_view const name = mark.metadata->name();
    if (is_test_begin(mark)) {
      tests_[mark.tag].failure.test = test_of(mark);
      tag_of_[test_of(mark)] = mark.tag;
      return;
    }
    std::string const test_name = test_of(mark);
    auto const found = tag_of_.find(test_name);
    Test& test = tests_[found == tag_of_.end() ? 0 : found->second];
    if (is_test_end(mark)) {
      test.has_ended = true;
      test.has_failed |= text_of_field(mark, "result") == "failed";
    } else if (name == "failure" && !test.has_failed) {
      test.has_failed = true;
      if (test.failure.how.empty()) test.failure.how = first_line_of(text_of_field(mark, "message"));
      test.failure.place = place_of(text_of_field(mark, "file"), text_of_field(mark, "line"));
    } else if (name == "signal") {
      test.has_failed = true;
      test.failure.how = text_of_field(mark, "signal");
    } else if (name == "property" && text_of_field(mark, "name") == "trace_span_path") {
      test.failure.spans = without_values(text_of_field(mark, "value"));
    }
  }

  std::map<std::uint32_t, Test> tests_;
  std::map<std::string, std::uint32_t> tag_of_;  // by name; if tests share a name, the tag of the last
};

std::string text_of_cause(Failure const& failure) {
  std::string what = failure.error;
  if (what.empty()) what = failure.place.empty() ? failure.how : "failed at " + failure.place;
  return failure.spans.empty() ? what : failure.spans + ": " + what;
}

// Returns a key that failures of one cause share. It has only the innermost span, since tests may come to it by several
// ways, and no values of the error.
std::string key_of(Failure const& failure) {
  std::string const innermost = failure.spans.substr(failure.spans.rfind(':') + 1);
  return innermost + '\n' + (failure.error.empty() ? failure.how + failure.place : failure.error_place);
}

}  // namespace

std::vector<Failure> failures_of(tracing::recording::Recording& recording, std::string const& file) {
  Tests tests;
  recording.for_each([&tests](Entry const& entry) { tests.add(entry); });
  return std::move(tests).failures(file);
}

std::vector<FailureCause> causes_of(std::vector<Failure> failures) {
  std::vector<FailureCause> causes;
  std::map<std::string, std::size_t> index_of;
  for (Failure& failure : failures) {
    auto const [at, is_new] = index_of.try_emplace(key_of(failure), causes.size());
    if (is_new) causes.push_back({text_of_cause(failure), {}});
    causes[at->second].failures.push_back(std::move(failure));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](FailureCause const& a, FailureCause const& b) { return a.failures.size() > b.failures.size(); });
  return causes;
}

}  // namespace testlog::cli
