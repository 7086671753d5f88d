#include "testlog/cli/run_marks.h"

#include "tracing_core/format/json_value.h"
#include "tracing_core/format/timer.h"
#include "tracing_core/model/text_escape.h"

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

// Without control characters, which might end a line or change the terminal.
std::string printable(std::string_view text) {
  tracing::InlineTextBuffer<256> out;
  for (;;) {
    std::size_t const end = text.find('\n');
    tracing::append_sanitized_in_line(out, text.substr(0, end));
    if (end == text.npos) return std::string(out.view());
    out.push_back('\n');
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
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    out.push_back(',');
    tracing::internal::append_json_text(out, values.name(i));
    out.push_back(':');
    tracing::internal::append_json_value(out, values.value(i));
  }
  out.append("}\n");
  return std::string(out.view());
}

std::string in_frame(std::string const& text) { return "---- " + printable(text) + " ----\n"; }

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

}  // namespace

TestNames tests_of(tracing::internal::Recording& recording) {
  TestNames names;
  recording.for_each([&names](RecordEntry const& entry) {
    if (entry.type == RecordType::mark && entry.metadata->name() == "test_begin")
      names[entry.tag] = field(FieldValues(*entry.metadata, entry.values), "test");
  });
  return names;
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
  if (name == "failure") return printable(place) + ": Failure\n" + printable(field(values, "message")) + "\n";
  if (name == "skip") return printable(place) + ": Skipped\n" + printable(field(values, "message")) + "\n";
  if (name == "signal") return in_frame(field(values, "signal") + in_test);
  if (name == "exit") return in_frame("the process called exit()" + in_test);
  return {};
}

}  // namespace testlog::cli
