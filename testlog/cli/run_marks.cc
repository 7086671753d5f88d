#include "testlog/cli/run_marks.h"

#include <algorithm>
#include <utility>

#include "testlog/cli/terminal.h"
#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/timer.h"

namespace testlog::cli {
namespace {

using tracing::FieldValues;
using tracing::recording::Entry;
using tracing::recording::EntryType;

using tracing::recording::text_of_field;

// Indents the text, so that its lines do not look like records.
std::string indented_lines(std::string_view text) {
  std::string lines;
  for (;;) {
    std::size_t const end = text.find('\n');
    if (end != 0 && !text.empty()) lines += "  " + printable(text.substr(0, end));
    lines.push_back('\n');
    if (end == text.npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string json_of(Entry const& mark, tracing::FormatOptions const& format) {
  tracing::InlineTextBuffer<512> out;
  out.push_back('{');
  if (format.timer != nullptr) {
    tracing::InlineTextBuffer<64> time;
    if (format.timer->append(time, mark.time)) {
      out.append("\"timestamp\":");
      tracing::formatting::append_json_text(out, time.view());
      out.push_back(',');
    }
  }
  out.append("\"kind\":");
  tracing::formatting::append_json_text(out, mark.metadata->name());
  FieldValues const values(*mark.metadata, mark.values);
  tracing::formatting::JsonNames names;
  names.reserve("timestamp");
  names.reserve("kind");
  names.add_all(*mark.metadata);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    out.push_back(',');
    tracing::formatting::append_json_text(out, names.name(i));
    out.push_back(':');
    tracing::formatting::append_json_value(out, values.value(i));
  }
  out.append("}\n");
  return std::string(out.view());
}

std::string in_frame(std::string const& text) { return "---- " + printable(text) + " ----\n"; }

// Colours the first line of the text.
std::string coloured(char const* escape, std::string text) {
  return escape + text.insert(std::min(text.find('\n'), text.size()), "\x1b[0m");
}

bool matches(std::string_view name, std::string_view pattern) noexcept {
  for (; !pattern.empty(); pattern.remove_prefix(1)) {
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      for (std::size_t i = 0; i <= name.size(); ++i) {
        if (matches(name.substr(i), pattern)) return true;
      }
      return false;
    }
    if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
    name.remove_prefix(1);
  }
  return name.empty();
}

// Returns the names that gtest_discover_tests() gives a test, without TEST_PREFIX and TEST_SUFFIX:
// `Given/Words.AreRead/"a word"` and `Sizes.Fit<int>`.
std::vector<std::string> ctest_names_of(std::string const& name, std::string const& value, std::string const& type) {
  std::vector<std::string> names;
  std::size_t const dot = name.find('.'), slash = name.rfind('/');
  if (!value.empty() && slash != name.npos) {
    names.push_back(name.substr(0, slash + 1) + value);
    names.push_back(name + "  # GetParam() = " + value);  // the name in CMake 3.25 if the value has a name
  }
  if (!type.empty() && dot != name.npos)
    names.push_back(name.substr(0, std::min(name.find('/'), dot)) + name.substr(dot) + "<" + type + ">");
  return names;
}

// Returns the text of a mark without colour.
std::string plain_text_of(Entry const& mark) {
  std::string_view const name = mark.metadata->name();
  std::string const test = text_of_field(mark, "test");
  std::string const in_test = test.empty() ? " outside any test" : " in " + test;
  std::string const place = text_of_field(mark, "file").empty()
                                ? "unknown file"
                                : text_of_field(mark, "file") + ":" + text_of_field(mark, "line");
  if (name == "process")
    return in_frame("process " + text_of_field(mark, "pid") + " on " + text_of_field(mark, "host") + ": " +
                    text_of_field(mark, "command"));
  if (name == "test_begin") return in_frame(test);
  if (name == "test_end")
    return in_frame(test + " " + text_of_field(mark, "result") + " (" + text_of_field(mark, "duration_ms") + " ms)");
  if (name == "failure") {
    std::string const late_from = text_of_field(mark, "late_from");
    return (late_from.empty() ? "" : "[late, from " + printable(late_from) + "] ") + printable(place) + ": Failure\n" +
           indented_lines(text_of_field(mark, "message"));
  }
  if (name == "skip") return printable(place) + ": Skipped\n" + indented_lines(text_of_field(mark, "message"));
  if (name == "signal") return in_frame(text_of_field(mark, "signal") + in_test);
  if (name == "still_running")
    return in_frame("still running after " + text_of_field(mark, "duration_ms") + " ms" + in_test);
  if (name == "exit") return in_frame("the process called exit()" + in_test);
  return {};
}

}  // namespace

bool is_headline(Entry const& mark) noexcept {
  return mark.metadata->name() != "failure" && mark.metadata->name() != "skip";
}

std::string test_of(Entry const& mark) { return text_of_field(mark, "test"); }

RecordedTests recorded_tests_of(tracing::recording::Recording& recording) {
  RecordedTests tests;
  for (auto& [tag, test] : tracing::recording::tests_of(recording)) {
    auto ctest_names = ctest_names_of(test.name, test.value, test.type);
    tests[tag] = {{std::move(test)}, std::move(ctest_names)};
  }
  return tests;
}

bool has_failed_outside_tests(tracing::recording::Recording& recording) {
  bool has_failed = false;
  if (!recording.runs_tests()) return false;
  for_each_mark(recording, [&has_failed](Entry const& entry) {
    if (entry.type == EntryType::mark && entry.metadata->name() == "failure") has_failed |= test_of(entry).empty();
  });
  return has_failed;
}

bool matches_any(std::string_view name, std::string_view patterns) noexcept {
  for (;;) {
    std::size_t const colon = patterns.find(':');
    if (matches(name, patterns.substr(0, colon))) return true;
    if (colon == patterns.npos) return false;
    patterns.remove_prefix(colon + 1);
  }
}

std::string text_of_mark(Entry const& mark, tracing::FormatOptions const& format) {
  if (tracing::formatting::is_json(format.kind)) return json_of(mark, format);
  std::string text = plain_text_of(mark);
  if (!format.ansi || text.empty()) return text;
  return coloured(mark.metadata->name() == "failure" ? "\x1b[31m" : "\x1b[1m", std::move(text));
}

}  // namespace testlog::cli
