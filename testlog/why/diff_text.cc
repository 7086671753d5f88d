#include "testlog/why/diff_text.h"

#include <algorithm>
#include <string_view>

#include "testlog/why/json_members.h"
#include "tracing_core/format/amounts.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::why {
namespace {

std::string_view name(Mark mark) noexcept {
  constexpr std::string_view kNames[] = {"context", "changed", "removed", "added", "equal", "more"};
  return kNames[static_cast<std::size_t>(mark)];
}

// Returns the last name of a site's path, which may contain colons.
std::string_view span_name(Sites const& sites, Site const& site) {
  std::size_t const around = site.around == kNoSite ? 0 : sites.site(site.around).path.size();
  std::string_view const path = site.path;
  return around == 0 ? path : path.substr(std::min(path.size(), around + 1));
}

struct FieldText {
  std::string_view name;
  std::string text;
  bool is_message = false;  // the message of an event, with its values
};

// A node, and the node of the other run with which it is paired.
struct Place {
  SpanTree const& tree;
  NodeId id;
  SpanTree const& other_tree;
  NodeId other;
};

// Returns true if the paired node has another value, which counts as equal.
bool is_masked(ComparedRuns const& runs, Place const& place, SpanTree::FieldValue const& value) {
  if (runs.noise.is_masked(value.field)) return true;
  if (place.other == kNone) return false;
  bool is_alike = false, is_same = false;
  place.other_tree.for_each_value(place.other, [&](SpanTree::FieldValue const& other) {
    if (other.field != value.field) return;
    is_same |= other.text == value.text;
    is_alike |= runs.noise.id_of(other, runs.names.texts) == runs.noise.id_of(value, runs.names.texts);
  });
  return is_alike && !is_same;
}

std::vector<FieldText> fields_of(ComparedRuns const& runs, Place const& place) {
  Site const& site = runs.names.sites.site(place.tree.node(place.id).site);
  std::vector<FieldText> fields;
  for (SpanTree::FieldValue const& value : place.tree.values(place.id)) {
    std::string_view const name = runs.names.sites.name(runs.names.sites.field(value.field).name);
    bool const is_message = name == "message" && !site.message.empty();
    bool const is_hidden = is_masked(runs, place, value);
    if (is_message && is_hidden) continue;
    fields.push_back({name, is_hidden ? "*" : runs.names.texts.text(value.text), is_message});
  }
  return fields;
}

// Returns such as `load{rows=8}`, `"took {}" rows=8` or `[worker-#]`.
std::string text_of(ComparedRuns const& runs, Place const& place) {
  TreeNode const& node = place.tree.node(place.id);
  if (node.is_thread()) return "[" + runs.names.sites.name(node.group) + "]";
  Site const& site = runs.names.sites.site(node.site);
  std::string fields, message = site.message;
  for (FieldText const& field : fields_of(runs, place)) {
    if (field.is_message) {
      message = field.text;
    } else {
      fields.append(fields.empty() ? "" : " ").append(field.name).append("=").append(field.text);
    }
  }
  if (site.is_span) {
    std::string text(span_name(runs.names.sites, site));
    return fields.empty() ? text : text + "{" + fields + "}";
  }
  if (!message.empty()) fields = '"' + message + '"' + (fields.empty() ? "" : " ") + fields;
  return fields.empty() ? site.target : fields;
}

Place place_in_a(ComparedRuns const& runs, DiffLine const& line) noexcept {
  return {runs.a.tree, line.a, runs.b.tree, line.b};
}
Place place_in_b(ComparedRuns const& runs, DiffLine const& line) noexcept {
  return {runs.b.tree, line.b, runs.a.tree, line.a};
}

std::string text_of(ComparedRuns const& runs, DiffLine const& line, Place const& place) {
  TreeNode const& node = place.tree.node(place.id);
  std::string text = text_of(runs, place);
  if (line.mark == Mark::changed && node.is_open) text += " (did not end)";
  if (line.has_other_duration)
    text += " took " + tracing::formatting::text_of_ns(static_cast<std::uint64_t>(node.duration_ns));
  return text;
}

std::string text_of_equal(DiffLine const& line) {
  std::string text;
  if (line.count > 0) text += std::to_string(line.count) + " equal";
  if (line.varying > 0) text += (text.empty() ? "" : ", ") + std::to_string(line.varying) + " that vary";
  return "... " + text;
}

class TextWriter {
 public:
  TextWriter(ComparedRuns const& runs, bool is_coloured) : runs_(runs), is_coloured_(is_coloured) {}

  void add(DiffLine const& line) {
    Place const a = place_in_a(runs_, line), b = place_in_b(runs_, line);
    switch (line.mark) {
      case Mark::context: return add(' ', line, text_of(runs_, line, a));
      case Mark::equal: return add(' ', line, text_of_equal(line));
      case Mark::removed: return add('-', line, text_of(runs_, line, a));
      case Mark::added: return add('+', line, text_of(runs_, line, b));
      case Mark::more: return add(line.a != kNone ? '-' : '+', line, "... " + std::to_string(line.count) + " more");
      case Mark::changed: add('-', line, text_of(runs_, line, a)); add('+', line, text_of(runs_, line, b));
    }
  }
  void add(char mark, DiffLine const& line, std::string const& text) {
    char const* const color = !is_coloured_ ? "" : mark == '-' ? "\x1b[31m" : mark == '+' ? "\x1b[32m" : "";
    text_.append(color).append(1, mark).append(1, ' ').append(2 * std::min<std::size_t>(line.depth, 100), ' ');
    text_.append(tracing::sanitized_in_line(text)).append(*color == '\0' ? "" : "\x1b[0m").append(1, '\n');
  }
  std::string& text() noexcept { return text_; }

 private:
  ComparedRuns const& runs_;
  bool const is_coloured_;
  std::string text_;
};

std::string name_of(RunTree const& run) {
  std::string const test = run.test.empty() ? "the program" : run.test;
  std::string const result = run.test.empty() ? "" : run.result.empty() ? " did not end" : " " + run.result;
  return test + result + " (" + run.file + ")";
}

void append_run(tracing::TextBuffer& out, std::string_view name, RunTree const& run) {
  out.push_back(',');
  tracing::append_json_string(out, name);
  out.append(":{");
  append_member(out, "test", run.test);
  append_member(out, "file", run.file);
  append_member(out, "result", run.result);
  append_number(out, "lost", run.lost);
  out.push_back('}');
}

void append_node(tracing::TextBuffer& out, std::string_view name, ComparedRuns const& runs, Place const& place) {
  if (place.id == kNone) return;
  TreeNode const& node = place.tree.node(place.id);
  out.push_back(',');
  tracing::append_json_string(out, name);
  out.append(":{\"fields\":{");
  if (!node.is_thread()) {
    for (FieldText const& field : fields_of(runs, place)) append_member(out, field.name, field.text);
  }
  out.push_back('}');
  append_number(out, "duration_ns", static_cast<std::uint64_t>(node.duration_ns));
  out.append(node.is_open ? ",\"is_open\":true}" : ",\"is_open\":false}");
}

void append_line(tracing::TextBuffer& out, ComparedRuns const& runs, DiffLine const& line) {
  out.push_back('{');
  append_member(out, "mark", name(line.mark));
  append_number(out, "depth", line.depth);
  if (line.mark == Mark::equal || line.mark == Mark::more) append_number(out, "count", line.count);
  if (line.mark == Mark::equal) append_number(out, "varying", line.varying);
  if (line.mark != Mark::equal) {
    TreeNode const& node = line.a != kNone ? runs.a.tree.node(line.a) : runs.b.tree.node(line.b);
    if (node.is_thread()) {
      append_member(out, "thread", runs.names.sites.name(node.group));
    } else {
      Site const& site = runs.names.sites.site(node.site);
      out.append(",\"site\":{");
      append_member(out, "target", site.target);
      append_member(out, "path", site.path);
      append_member(out, "message", site.message);
      append_member(out, "file", site.file);
      append_number(out, "line", site.line);
      out.push_back('}');
    }
    append_node(out, "a", runs, place_in_a(runs, line));
    append_node(out, "b", runs, place_in_b(runs, line));
  }
  out.push_back('}');
}

}  // namespace

std::string text_of(ComparedRuns const& runs, std::size_t max_lines, bool is_coloured) {
  std::vector<DiffLine> const& lines = runs.diff.lines;
  TextWriter writer(runs, is_coloured);
  std::string& text = writer.text();
  char const* const bold = is_coloured ? "\x1b[1m" : "";
  char const* const plain = is_coloured ? "\x1b[0m" : "";
  text.append(bold).append("--- ").append(tracing::sanitized_in_line(name_of(runs.a))).append(plain).append("\n");
  text.append(bold).append("+++ ").append(tracing::sanitized_in_line(name_of(runs.b))).append(plain).append("\n");
  if (runs.diff.differences == 0) {
    return text + "no difference in " + std::to_string(runs.a.tree.node(kRoot).size) +
           " spans and events, thread by thread\n";
  }
  std::size_t const shown = max_lines == 0 ? lines.size() : std::min(lines.size(), max_lines);
  for (std::size_t i = 0; i < shown; ++i) writer.add(lines[i]);
  if (shown < lines.size()) text += "... " + std::to_string(lines.size() - shown) + " more lines (--lines 0)\n";
  return text;
}

void append_json(tracing::TextBuffer& out, ComparedRuns const& runs) {
  out.push_back('{');
  append_number(out, "passing", runs.passing);
  append_number(out, "differences", runs.diff.differences);
  append_run(out, "a", runs.a);
  append_run(out, "b", runs.b);
  out.append(",\"lines\":[");
  for (std::size_t i = 0; i < runs.diff.lines.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_line(out, runs, runs.diff.lines[i]);
  }
  out.append("]}");
}

}  // namespace testlog::why
