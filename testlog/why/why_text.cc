#include "testlog/why/why_text.h"

#include <cstdint>

#include "testlog/why/json_members.h"
#include "tracing_core/format/amounts.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"

namespace testlog::why {
namespace {

using tracing::support::counted;

// Returns the end of a long path: `...:request:load`.
std::string shortened(std::string const& path) {
  constexpr std::size_t kMaxPath = 120;
  if (path.size() <= kMaxPath) return path;
  std::size_t const colon = path.find(':', path.size() - kMaxPath);
  return colon == path.npos ? path : "..." + path.substr(colon);
}

// Returns where a cause was: `session:wait "waited"`, or its target if it was in no span.
std::string place_of(Site const& site) {
  std::string text = site.path.empty() ? site.target : shortened(site.path);
  if (!site.message.empty()) text += " \"" + site.message + '"';
  return text;
}

// Returns `solver.cc:41, `; empty for a record of a GPU, which no line of the program made.
std::string file_of(Site const& site) {
  return site.file.empty() ? "" : site.file + ":" + std::to_string(site.line) + ", ";
}

// Returns a text such as `3 of 3 passing runs`.
std::string passing_of(double share, std::size_t passing) {
  auto const count = static_cast<std::size_t>(share * static_cast<double>(passing) + 0.5);
  return std::to_string(count) + " of " + counted(passing, "passing run");
}

std::string difference_of(Cause const& cause, std::size_t passing) {
  std::string const in_all = passing_of(1, passing), in_others = passing_of(1 - cause.share_passing, passing);
  switch (cause.kind) {
    case CauseKind::value: return cause.field + " is " + cause.here + "; " + cause.there + " in " + in_all;
    case CauseKind::order: return cause.here + "; " + cause.there + " in " + in_all;
    case CauseKind::thread: return "on " + cause.here + "; on " + cause.there + " in " + in_all;
    case CauseKind::late: return "in " + passing_of(cause.share_passing, passing);
    case CauseKind::occurs:
      if (!cause.there.empty()) return "recorded " + cause.here + "; " + cause.there + " in " + in_all;
      return "recorded here; in " + passing_of(cause.share_passing, passing);
    case CauseKind::exception:
      if (cause.field.empty()) return cause.here + "; in " + passing_of(cause.share_passing, passing);
      return cause.field + " is " + cause.here + "; recorded in " + passing_of(cause.share_passing, passing);
    case CauseKind::missing: return "missing before the failure; recorded in " + in_others;
    case CauseKind::count: return cause.here + " by then; " + cause.there + " in " + in_all;
    case CauseKind::open: return cause.here + "; " + cause.there + " in " + in_all;
    case CauseKind::duration: return "took " + cause.here + "; " + cause.there + " in " + in_all;
  }
  return {};
}

void append_share(tracing::TextBuffer& out, std::string_view name, double share) {
  out.push_back(',');
  tracing::append_json_string(out, name);
  out.push_back(':');
  tracing::append_json_float(out, share);
}

void append_cause(tracing::TextBuffer& out, Cause const& cause) {
  out.push_back('{');
  append_member(out, "kind", name(cause.kind));
  out.append(",\"site\":{");
  append_member(out, "target", cause.site.target);
  append_member(out, "path", cause.site.path);
  append_member(out, "message", cause.site.message);
  append_member(out, "field", cause.field);
  append_member(out, "file", cause.site.file);
  append_number(out, "line", cause.site.line);
  out.push_back('}');
  append_member(out, "here", cause.here);
  append_member(out, "there", cause.there);
  append_share(out, "share_failing", cause.share_failing);
  append_share(out, "share_passing", cause.share_passing);
  append_number(out, "before_failure_ns", static_cast<std::uint64_t>(cause.before_failure_ns));
  append_member(out, "thread", cause.thread);
  append_number(out, "consequences", cause.consequences);
  out.push_back('}');
}

}  // namespace

Explanation explain(std::string const& test, ComparedTest const& runs) {
  return {.test = test,
          .failing = runs.failing.size(),
          .passing = runs.passing.size(),
          .causes = causes_of(runs.sites, runs.failing, runs.passing),
          .ignored = ignored_in(runs.failing, runs.passing)};
}

std::string line_of(Cause const& cause, std::size_t passing) {
  // Of a late record, the thread matters, and the record only shows that the thread went on.
  bool const is_late = cause.kind == CauseKind::late;
  std::string line = is_late ? cause.here + ": " + place_of(cause.site) + "; " : place_of(cause.site) + ": ";
  line += difference_of(cause, passing) + " (" + file_of(cause.site);
  if (!cause.thread.empty()) line += cause.thread + ", ";
  line += tracing::formatting::text_of_ns(static_cast<std::uint64_t>(cause.before_failure_ns)) + " before the failure)";
  if (cause.consequences > 0)
    line += "; " + std::to_string(cause.consequences) + (cause.consequences == 1 ? " more follows" : " more follow");
  return tracing::sanitized_in_line(line);
}

std::string text_of(Explanation const& explanation, std::size_t max_lines, bool is_coloured, std::string_view more) {
  std::string text = is_coloured ? "\x1b[1m" : "";
  text += "---- " + (explanation.test.empty() ? std::string("the run") : tracing::sanitized_in_line(explanation.test));
  text +=
      ": " + counted(explanation.failing, "failing run") + " against " + counted(explanation.passing, "passing run");
  text += is_coloured ? " ----\x1b[0m\n" : " ----\n";
  if (explanation.causes.empty()) text += "no difference recorded before the failure\n";
  for (std::size_t i = 0; i < explanation.causes.size() && i < max_lines; ++i)
    text += std::to_string(i + 1) + ". " + line_of(explanation.causes[i], explanation.passing) + "\n";
  if (explanation.causes.size() > max_lines)
    text += "... " + std::to_string(explanation.causes.size() - max_lines) + " more (" + std::string(more) + ")\n";
  return text;
}

void append_json(tracing::TextBuffer& out, Explanation const& explanation) {
  out.push_back('{');
  append_member(out, "test", explanation.test);
  append_number(out, "failing", explanation.failing);
  append_number(out, "passing", explanation.passing);
  out.append(",\"entries\":[");
  for (std::size_t i = 0; i < explanation.causes.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_cause(out, explanation.causes[i]);
  }
  out.append("],\"ignored\":{");
  append_number(out, "volatile_fields", explanation.ignored.volatile_fields);
  append_number(out, "overwritten_failing", explanation.ignored.overwritten_failing);
  append_number(out, "overwritten_passing", explanation.ignored.overwritten_passing);
  out.append("}}");
}

}  // namespace testlog::why
