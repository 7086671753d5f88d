// What testlog prints about filters: directives that matched nothing, and the answer to TRACE_FILTER=help.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// The directives that report_unmatched() reports: those that matched nothing, or of them only those that nearly match
/// something, since others may be meant for code that did not run.
enum class Unmatched : bool { all, near };

/// Reports directives of TRACE_FILTER, of the running test's own filter and of TRACE_CAPTURE that matched nothing that
/// ran, each once per process.
void report_unmatched(Session& session, Unmatched which);

/// Prints the grammar of filters and the targets that were reached.
void print_filter_help(Session& session);

}  // namespace testlog::inline v1
