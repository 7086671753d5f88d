// explain(): tells which directives of an EnvFilter had no effect, and why. filter_help(): returns the text of `help`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tracing_core/filter/env_filter.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 {

/// Says why a directive had no effect, or not its full effect.
struct DirectiveNote {
  std::string directive;  ///< Directive::to_string()
  /// `"[lanch]=trace" matched nothing that ran: no span is named "lanch"; did you mean "launch"?`
  std::string sentence;
  /// True if the directive matched nothing, but something that ran has nearly this name: probably a typo, even if not
  /// all code ran.
  bool is_near = false;
};

/// Explains the directives that matched none of the callsites that ran, with the nearest name that did run, and the
/// directives for levels that were compiled out. Explains a directive with level `off` only if its name is nearly a
/// name that ran. `reached`: see visit_callsites(). `saw_values` says whether the filter was asked about the spans that
/// ran. If not, it cannot know whether their values match, so no note is about values. Takes time proportional to
/// directives times callsites.
std::vector<DirectiveNote> explain(EnvFilter const& filter, std::span<Metadata const* const> reached,
                                   bool saw_values = true);

/// Returns the grammar of filters with examples, followed by the targets that were reached, with their levels, spans
/// and fields. `origin` is the name of the variable. Ends with a newline.
std::string filter_help(std::string_view origin, std::span<Metadata const* const> reached);

}}  // namespace tracing::v1
