#include "testlog/cli/page/page_index.h"

#include "testlog/why/json_members.h"

namespace testlog::cli::page {
namespace {

using tracing::TextBuffer;
using why::append_member;
using why::append_number;

void append_name(TextBuffer& out, std::string_view name) {
  if (!out.view().ends_with('{')) out.push_back(',');
  tracing::append_json_string(out, name);
  out.push_back(':');
}

template <class List, class Append>
void append_list(TextBuffer& out, std::string_view name, List const& list, Append append) {
  append_name(out, name);
  out.push_back('[');
  bool is_first = true;
  for (auto const& element : list) {
    if (!is_first) out.push_back(',');
    is_first = false;
    append(element);
  }
  out.push_back(']');
}

void append_attempts(TextBuffer& out, std::string_view name, std::vector<PageAttempt> const& attempts) {
  append_list(out, name, attempts, [&out](PageAttempt const& attempt) {
    out.push_back('{');
    append_member(out, "file", attempt.file);
    append_member(out, "result", attempt.result);
    append_member(out, "block", attempt.block);
    append_number(out, "began", static_cast<std::uint64_t>(attempt.began_ms));
    append_number(out, "lines", attempt.lines);
    append_number(out, "left_out", attempt.left_out);
    append_member(out, "stopped", attempt.stopped);
    append_list(out, "sites", attempt.sites, [&out](std::uint32_t site) { out.append_uint(site); });
    out.push_back('}');
  });
}

void append_test(TextBuffer& out, PageTest const& test) {
  auto const append_text = [&out](std::string const& text) { tracing::append_json_string(out, text); };
  out.push_back('{');
  append_member(out, "name", test.name);
  append_member(out, "result", test.result);
  out.append(test.is_slow ? ",\"slow\":true" : ",\"slow\":false");
  append_number(out, "ms", test.duration_ms);
  append_member(out, "how", test.how);
  append_member(out, "place", test.place);
  append_member(out, "spans", test.spans);
  append_member(out, "error", test.error);
  append_list(out, "why", test.why, [&out](PageDifference const& difference) {
    out.push_back('{');
    append_member(out, "text", difference.text);
    append_member(out, "file", difference.file);
    append_number(out, "line", difference.line);
    append_member(out, "thread", difference.thread);
    append_number(out, "before", static_cast<std::uint64_t>(difference.before_failure_ns));
    out.push_back('}');
  });
  append_list(out, "diff", test.diff, [&](auto const& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.push_back(i == 0 ? '[' : ',');
      append_text(row[i]);
    }
    out.push_back(']');
  });
  append_member(out, "diff_note", test.diff_note);
  append_member(out, "command", test.command);
  append_list(out, "environment", test.environment, [&](auto const& row) {
    out.push_back('[');
    append_text(row.first);
    out.push_back(',');
    append_text(row.second);
    out.push_back(']');
  });
  append_attempts(out, "attempts", test.attempts);
  append_attempts(out, "passing", test.passing);
  out.push_back('}');
}

}  // namespace

std::string PageIndex::json() const {
  tracing::InlineTextBuffer<4096> out;
  out.push_back('{');
  append_member(out, "title", title);
  append_list(out, "tests", tests, [&out](PageTest const& test) { append_test(out, test); });
  append_list(out, "causes", causes, [&out](PageCause const& cause) {
    out.push_back('{');
    append_member(out, "text", cause.text);
    append_list(out, "tests", cause.tests, [&out](std::size_t test) { out.append_uint(test); });
    out.push_back('}');
  });
  append_list(out, "sites", sites, [&out](std::string const& site) { out.append(site); });
  append_list(out, "notes", notes, [&out](std::string const& note) { tracing::append_json_string(out, note); });
  out.push_back('}');
  return std::string(out.view());
}

}  // namespace testlog::cli::page
