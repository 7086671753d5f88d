#include "testlog/cli/run_marks.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "testlog/cli/terminal.h"
#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/timer.h"

namespace testlog::cli {
namespace {

using tracing::FieldValues;
using tracing::internal::RecordEntry;
using tracing::internal::RecordType;

// A field of a mark as text; empty if it has none.
std::string field(FieldValues const& values, std::string_view name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.name(i) != name || values.value(i).is_empty()) continue;
    if (values.value(i).kind() == tracing::ValueKind::text) return std::string(values.value(i).as_text());
    tracing::InlineTextBuffer<64> text;
    tracing::append_debug(text, values.value(i));
    return std::string(text.view());
  }
  return {};
}

// Indented, so that none of its lines looks like a record.
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

std::string json_of(RecordEntry const& mark, tracing::FormatOptions const& format) {
  tracing::InlineTextBuffer<512> out;
  out.push_back('{');
  if (format.timer != nullptr) {
    tracing::InlineTextBuffer<64> time;
    if (format.timer->append(time, mark.time)) {
      out.append("\"timestamp\":");
      tracing::internal::append_json_text(out, time.view());
      out.push_back(',');
    }
  }
  out.append("\"kind\":");
  tracing::internal::append_json_text(out, mark.metadata->name());
  FieldValues const values(*mark.metadata, mark.values);
  tracing::internal::JsonNames names;
  names.reserve("timestamp");
  names.reserve("kind");
  names.add_all(*mark.metadata);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    out.push_back(',');
    tracing::internal::append_json_text(out, names.name(i));
    out.push_back(':');
    tracing::internal::append_json_value(out, values.value(i));
  }
  out.append("}\n");
  return std::string(out.view());
}

std::string in_frame(std::string const& text) { return "---- " + printable(text) + " ----\n"; }

// The first line of the text in this colour.
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

// Without colour.
std::string plain_text_of(RecordEntry const& mark) {
  FieldValues const values(*mark.metadata, mark.values);
  std::string_view const name = mark.metadata->name();
  std::string const test = field(values, "test");
  std::string const in_test = test.empty() ? " outside any test" : " in " + test;
  std::string const place = field(values, "file").empty() ? "unknown file"
                                                          : field(values, "file") + ":" + field(values, "line");
  if (name == "process")
    return in_frame("process " + field(values, "pid") + " on " + field(values, "host") + ": " + field(values, "command"));
  if (name == "test_begin") return in_frame(test);
  if (name == "test_end") return in_frame(test + " " + field(values, "result") + " (" + field(values, "duration_ms") + " ms)");
  if (name == "failure") return printable(place) + ": Failure\n" + indented_lines(field(values, "message"));
  if (name == "skip") return printable(place) + ": Skipped\n" + indented_lines(field(values, "message"));
  if (name == "signal") return in_frame(field(values, "signal") + in_test);
  if (name == "still_running") return in_frame("still running after " + field(values, "duration_ms") + " ms" + in_test);
  if (name == "exit") return in_frame("the process called exit()" + in_test);
  return {};
}

}  // namespace

bool is_test_begin(RecordEntry const& entry) noexcept {
  return entry.type == RecordType::mark && entry.metadata->name() == "test_begin";
}
bool is_test_end(RecordEntry const& entry) noexcept {
  return entry.type == RecordType::mark && entry.metadata->name() == "test_end";
}

bool is_headline(RecordEntry const& mark) noexcept { return mark.metadata->name() != "failure" && mark.metadata->name() != "skip"; }

std::string test_of(RecordEntry const& mark) { return field(FieldValues(*mark.metadata, mark.values), "test"); }

RecordedTests tests_of(tracing::internal::Recording& recording) {
  RecordedTests tests;
  if (!recording.has(tracing::internal::RecordType::mark)) return tests;
  recording.for_each([&tests](RecordEntry const& entry) {
    if (!is_test_begin(entry) && !is_test_end(entry)) return;
    FieldValues const values(*entry.metadata, entry.values);
    if (is_test_begin(entry)) {
      tests[entry.tag] = {field(values, "test")};
    } else {
      RecordedTest& test = tests[entry.tag];
      test.result = field(values, "result");
      test.duration_ms = std::strtoull(field(values, "duration_ms").c_str(), nullptr, 10);
    }
  });
  return tests;
}

bool has_failed_outside_tests(tracing::internal::Recording& recording) {
  bool has_failed = false;
  if (!recording.has(RecordType::mark)) return false;
  recording.for_each([&has_failed](RecordEntry const& entry) {
    if (entry.type == RecordType::mark && entry.metadata->name() == "failure") has_failed |= test_of(entry).empty();
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

std::string text_of_mark(RecordEntry const& mark, tracing::FormatOptions const& format) {
  if (format.kind == tracing::FormatKind::json) return json_of(mark, format);
  std::string text = plain_text_of(mark);
  if (!format.ansi || text.empty()) return text;
  return coloured(mark.metadata->name() == "failure" ? "\x1b[31m" : "\x1b[1m", std::move(text));
}

}  // namespace testlog::cli
