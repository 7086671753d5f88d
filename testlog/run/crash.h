// The report of a test that dies by a signal.
#pragma once

#include <string_view>

#include "testlog/report/report_parts.h"

namespace testlog { inline namespace v1 {

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. They write the name of the running test, the
/// spans that each thread is in, and the captured records not shown yet; then the earlier handler runs. They write
/// nothing in the children of death tests. A second call has no effect. `parts` must live as long as the process.
void install_crash_handlers(ReportParts const& parts);

/// Writes the report, without a stack, in an earlier handler of the signal: a test framework's. Async-signal-safe.
void report_fatal_signal(std::string_view signal) noexcept;

}}  // namespace testlog::v1
