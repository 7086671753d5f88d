// Declares what an EnvFilter says about itself after a run: which directives matched nothing, and the text of `help`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tracing_core/filter/env_filter.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1 {

/// Something to be said about one directive.
struct DirectiveNote {
  std::string directive;  ///< as it prints
  std::string
      sentence;  ///< `"[lanch]=trace" matched nothing that ran: no span is named "lanch"; did you mean "launch"?`
};

/// What to say about the directives that had no effect on the callsites that ran: those that matched none of them, with
/// the nearest name that did run; and those that ask for levels that were compiled out. Empty where all is well.
/// `reached`: see visit_callsites(). Takes time proportional to directives times callsites.
std::vector<DirectiveNote> explain(EnvFilter const& filter, std::span<Metadata const* const> reached);

/// The grammar of filters with examples, then the targets that were reached with their levels, spans and fields.
/// `origin` is the name of the variable. Ends with a newline.
std::string filter_help(std::string_view origin, std::span<Metadata const* const> reached);

}  // namespace tracing::inline v1
