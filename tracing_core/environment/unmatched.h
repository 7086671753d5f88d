// What is printed about filters: directives that matched nothing, and the answer to TRACE_FILTER=help.
#pragma once

#include <string>

#include "tracing_core/environment/output.h"
#include "tracing_core/filter/env_filter.h"

namespace tracing::inline v1::internal {

/// The directives that report_unmatched() reports: those that matched nothing, or of them only those that nearly match
/// something, since others may be meant for code that did not run.
enum class Unmatched : bool { all, near };

/// Reports directives of `filter` that matched nothing that ran, each once per process. `origin` is its variable.
void report_unmatched(Output& output, Unmatched which, std::string const& origin, EnvFilter const& filter);

/// Prints the grammar of filters and the targets that were reached.
void print_filter_help(Output& output);

}  // namespace tracing::inline v1::internal
