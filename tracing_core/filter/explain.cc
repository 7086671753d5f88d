#include "tracing_core/filter/explain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "tracing_core/filter/nearest.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 {
namespace {

using support::in_quotes;
using Reached = std::span<Metadata const* const>;
using Names = std::set<std::string_view>;

// The reason why a directive matched nothing; empty if it matched something.
struct Reason {
  std::string text;
  bool is_near = false;  // see DirectiveNote
};

// True if each part of one path is similar to the same part of the other: `mylib::nett` is near `mylib::net`,
// `mylib::io` is not.
bool is_near(std::string_view a, std::string_view b) {
  while (true) {
    std::size_t const end_a = a.find("::"), end_b = b.find("::");
    std::string_view const candidates[] = {b.substr(0, end_b)};
    bool const is_last = end_a == a.npos || end_b == b.npos;
    if (candidates[0].empty() || internal::nearest(a.substr(0, end_a), candidates).empty()) return false;
    if (is_last) return end_a == end_b;
    a.remove_prefix(end_a + 2);
    b.remove_prefix(end_b + 2);
  }
}

// Returns `text; did you mean "name"?`, or `text` alone if nothing has a similar name.
Reason with_nearest(std::string text, std::string_view name, Names const& names) {
  std::vector<std::string_view> const candidates(names.begin(), names.end());
  std::string_view const meant = internal::nearest(name, candidates);
  if (meant.empty()) return {std::move(text)};
  return {std::move(text) + "; did you mean " + in_quotes(meant) + "?", is_near(name, meant)};
}

// Adds a target and its prefixes: `a::b::c`, `a::b`, `a`.
void add_target(Names& names, std::string_view target) {
  names.insert(target);
  for (std::size_t end = target.rfind("::"); end != target.npos && end > 0; end = target.rfind("::", end - 1)) {
    names.insert(target.substr(0, end));
  }
}

bool has_target(Metadata const& metadata, std::optional<std::string> const& target) {
  return !target || metadata.target().starts_with(*target) ||
         (metadata.is_for_caller() && metadata.module_path().starts_with(*target));
}

bool has_fields(Metadata const& metadata, std::vector<FieldMatch> const& fields) {
  return std::all_of(fields.begin(), fields.end(),
                     [&](FieldMatch const& field) { return metadata.fields().contains(field.name); });
}

// Finds the part of a directive that no callsite matched: target, span or fields, in this order.
class Explainer {
 public:
  Explainer(Reached reached, Directive const& directive)
      : reached_(reached), target_(directive.target), span_(directive.span), fields_(directive.fields) {}

  Reason reason() const {
    if (!any([this](Metadata const& m) { return has_target(m, target_); })) return no_target();
    if (span_) {
      if (!any([this](Metadata const& m) { return m.is_span() && m.name() == *span_; })) return no_span();
      if (!any([this](Metadata const& m) { return is_wanted_span(m); })) return span_elsewhere();
    }
    if (!any([this](Metadata const& m) { return is_candidate(m) && has_fields(m, fields_); })) return no_field();
    return {};
  }

 private:
  template <class Predicate>
  bool any(Predicate predicate) const {
    return std::any_of(reached_.begin(), reached_.end(), [&](Metadata const* m) { return predicate(*m); });
  }
  bool is_wanted_span(Metadata const& m) const { return m.is_span() && m.name() == *span_ && has_target(m, target_); }
  bool is_candidate(Metadata const& m) const { return span_ ? is_wanted_span(m) : has_target(m, target_); }

  Reason no_target() const {
    Names names;
    for (Metadata const* m : reached_) {
      add_target(names, m->target());
      if (m->is_for_caller()) add_target(names, m->module_path());
    }
    std::string const text = "no target begins with " + in_quotes(*target_);
    if (std::string const directive = with_equals_sign(); !directive.empty())
      return {text + "; did you mean " + in_quotes(directive) + "?", true};
    Reason reason = with_nearest(text, *target_, names);
    if (reason.text != text) return reason;
    if (auto const level = internal::nearest_level(*target_); !level.empty() && fields_.empty() && !span_) {
      return {text + "; did you mean the level " + in_quotes(level) + "?", true};
    }
    if (any([this](Metadata const& m) { return m.is_span() && m.name() == *target_; })) {
      return {in_quotes(*target_) + " is a span; write \"[" + *target_ + "]\"", true};
    }
    return reason;
  }

  // Returns the directive `pool=trace` for `pool:trace` if a target begins with `pool`; else an empty text.
  std::string with_equals_sign() const {
    std::size_t const colon = target_->rfind(':');
    if (colon == 0 || colon == target_->npos || (*target_)[colon - 1] == ':' || !fields_.empty() || span_) return {};
    std::optional<std::string> const target = target_->substr(0, colon);
    std::string const level = target_->substr(colon + 1);
    bool const is_meant = !level.empty() && parse_level_filter(level) &&
                          any([&target](Metadata const& m) { return has_target(m, target); });
    return is_meant ? *target + "=" + level : "";
  }

  Reason no_span() const {
    Names names;
    for (Metadata const* m : reached_) {
      if (m->is_span()) names.insert(m->name());
    }
    if (names.empty()) return {"no span was reached"};
    std::string const text = "no span is named " + in_quotes(*span_);
    Reason reason = with_nearest(text, *span_, names);
    if (reason.text == text && any([this](Metadata const& m) { return m.target().starts_with(*span_); })) {
      return {in_quotes(*span_) + " is a target; write it without brackets", true};
    }
    return reason;
  }

  Reason span_elsewhere() const {
    for (Metadata const* m : reached_) {
      if (m->is_span() && m->name() == *span_)
        return {"the target of span " + in_quotes(*span_) + " is " + in_quotes(m->target())};
    }
    return {};
  }

  Reason no_field() const {
    Names names;
    for (Metadata const* m : reached_) {
      if (!is_candidate(*m)) continue;
      for (std::size_t i = 0; i < m->fields().size(); ++i) names.insert(m->fields()[i]);
    }
    for (FieldMatch const& field : fields_) {
      if (names.contains(field.name)) continue;
      std::string const where = span_ ? "span " + in_quotes(*span_) + " has no field " : "nothing has a field ";
      std::string const text = where + in_quotes(field.name);
      Reason reason = with_nearest(text, field.name, names);
      if (reason.text != text) return reason;
      if (&field != fields_.data() && (&field)[-1].value && !field.value)
        return {text + "; a value with a comma is written in quotes: " + (&field)[-1].name + "=\"...\""};
      if (span_ && !field.value &&
          any([&](Metadata const& m) { return !m.is_span() && m.fields().contains(field.name); }))
        return {text + "; for events that have it write [{" + field.name + "}]", true};
      return reason;
    }
    return {"nothing has all these fields"};
  }

  Reached const reached_;
  std::optional<std::string> const& target_;
  std::optional<std::string> const& span_;
  std::vector<FieldMatch> const& fields_;
};

// Returns the most verbose level that is compiled into any callsite with this target.
LevelFilter compiled_level(Reached reached, std::optional<std::string> const& target) {
  LevelFilter most = LevelFilter::off;
  for (Metadata const* m : reached) {
    if (has_target(*m, target)) most = std::max(most, m->max_compiled_level());
  }
  return most;
}

DirectiveNote compiled_out(std::string directive, std::optional<std::string> const& target, LevelFilter compiled) {
  std::string sentence = in_quotes(directive) + " is limited: levels above ";
  sentence.append(name(compiled)).append(" were compiled out of ").append(target ? in_quotes(*target) : "what ran");
  return {std::move(directive), sentence + " (TRACING_MAX_LEVEL)"};
}

// Summarizes the callsites of one target.
struct TargetSummary {
  std::set<Level> levels;
  std::map<std::string_view, Names> spans;
  LevelFilter compiled{};
};

void append_summary(std::string& out, std::string_view target, TargetSummary const& summary) {
  out.append("  ").append(target.empty() ? "(no target)" : target).append(":");
  char const* separator = " ";
  for (Level const level : summary.levels) {
    out.append(separator).append(name(as_filter(level)));
    separator = ", ";
  }
  separator = "; spans ";
  for (auto const& [span, fields] : summary.spans) {
    out.append(separator).append(span);
    for (std::string_view const field : fields) out.append(field == *fields.begin() ? "{" : ",").append(field);
    if (!fields.empty()) out += '}';
    separator = ", ";
  }
  if (summary.compiled < LevelFilter::trace) out.append("; compiled out above ").append(name(summary.compiled));
  out += '\n';
}

}  // namespace

std::vector<DirectiveNote> explain(EnvFilter const& filter, std::span<Metadata const* const> reached, bool saw_values) {
  std::vector<DirectiveNote> notes;
  auto const note = [&](Directive const& directive, Reason const& reason, std::optional<std::string> const& target) {
    std::string const text = directive.to_string();
    // Code that never ran emits nothing, as a directive with level `off` demands.
    if (directive.level == LevelFilter::off && !reason.text.empty() && !reason.is_near) return;
    if (!reason.text.empty()) {
      notes.push_back({text, in_quotes(text) + " matched nothing that ran: " + reason.text, reason.is_near});
    } else if (LevelFilter const compiled = compiled_level(reached, target); directive.level > compiled) {
      notes.push_back(compiled_out(text, target, compiled));
    }
  };
  if (reached.empty()) return notes;
  for (Directive const& directive : filter.static_directives())
    note(directive, Explainer(reached, directive).reason(), directive.target);
  auto const& dynamics = filter.dynamic_directives();
  for (std::size_t i = 0; i < dynamics.directives().size(); ++i) {
    Directive const& directive = dynamics.directives()[i];
    if (directive.is_static()) continue;  // explained above
    Reason reason = Explainer(reached, directive).reason();
    if (saw_values && reason.text.empty() && directive.has_values() && !dynamics.values_found(i)) {
      reason.text = directive.span ? "no span " + in_quotes(*directive.span) : std::string("no span");
      reason.text += " recorded these values";
      for (FieldMatch const& field : directive.fields) {
        if (!field.value || field.value->pattern_error().empty()) continue;
        reason.text += "; the value of " + in_quotes(field.name) + " is not a regular expression: ";
        reason.text += field.value->pattern_error();
        reason.is_near = true;
      }
      if (auto const nearest = dynamics.nearest_that_matches(i); !nearest.empty())
        reason.text += "; the nearest that matches is " + nearest;
    }
    note(directive, reason, std::nullopt);
  }
  return notes;
}

std::string filter_help(std::string_view origin, std::span<Metadata const* const> reached) {
  std::string out(origin);
  out += R"( selects the records that are shown: directives, separated by commas.

  info                         records up to this level: off, error, warn, info, debug, trace, or 0 to 5
  gpu::memory=debug            targets that begin with gpu::memory; without a level: trace
  [launch]=trace               everything on threads that are inside a span named launch
  gpu[launch{stream=7}]=trace  the same for spans whose target begins with gpu and that recorded stream=7
  [{error}]=warn               spans and events with a field error

Among directives without a span or value, the one with the longest target decides alone; the others add to it. Values
are true, false, numbers, the text that a line shows, such as (4, 64, 1) or "a,b", or regular expressions that match up
to the end of the text: GET|POST, b.*

)";
  if (reached.empty()) return out + "Nothing was reached yet.\n";
  std::map<std::string_view, TargetSummary> targets;
  for (Metadata const* metadata : reached) {
    TargetSummary& summary = targets[metadata->target()];
    summary.levels.insert(metadata->level());
    summary.compiled = std::max(summary.compiled, metadata->max_compiled_level());
    if (!metadata->is_span()) continue;
    Names& fields = summary.spans[metadata->name()];
    for (std::size_t i = 0; i < metadata->fields().size(); ++i) fields.insert(metadata->fields()[i]);
  }
  out += "Reached in this run:\n";
  for (auto const& [target, summary] : targets) append_summary(out, target, summary);
  return out;
}

}}  // namespace tracing::v1
