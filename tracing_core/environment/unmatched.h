// Prints texts about filters: directives that matched nothing, and the answer to TRACE_FILTER=help.
#pragma once

#include <string>

#include "tracing_core/environment/output.h"
#include "tracing_core/filter/env_filter.h"

namespace tracing { inline namespace v1 { namespace environment {

/// The directives that report_unmatched() reports: all that matched nothing, or only their near misses, since the
/// others may be meant for code that did not run.
enum class Unmatched : bool { all, near };

/// Reports directives of `filter` that matched nothing that ran, each directive once per process. `origin` is the name
/// of the filter's variable.
void report_unmatched(Output& output, Unmatched which, std::string const& origin, EnvFilter const& filter);

/// Prints the grammar of filters and the targets that were reached.
void print_filter_help(Output& output);

}}}  // namespace tracing::v1::environment
