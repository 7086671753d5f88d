// What testlog prints about filters: directives that matched nothing, and the answer to TRACE_FILTER=help.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Reports each directive of TRACE_FILTER, of the running test's own filter and of TRACE_CAPTURE that matched nothing
/// that ran, once per process.
void report_unmatched(Session& session);

/// Prints the grammar of filters and the targets that were reached.
void print_filter_help(Session& session);

}  // namespace testlog::inline v1
