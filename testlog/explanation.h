// Declares what is said about the filter: directives that matched nothing, and the answer to TRACE_FILTER=help.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Says of each directive of TRACE_FILTER, of the running test's own filter and of TRACE_CAPTURE, once in the process, that it
/// matched nothing that ran.
void report_unmatched(Session& session);

/// Prints the grammar of filters and the targets that were reached.
void print_filter_help(Session& session);

}  // namespace testlog::inline v1
