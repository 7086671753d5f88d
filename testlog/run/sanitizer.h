// Adds our reports to the reports of sanitizers.
#pragma once

#include "testlog/report/report_parts.h"

namespace testlog { inline namespace v1 {

/// If the program has the runtime of a sanitizer: before the sanitizer ends the process, writes what a fatal signal
/// would write, except the stack, which is in the sanitizer's own report. A callback that the program sets later
/// replaces ours. Writes nothing after the tests. `parts` must live as long as the process.
void watch_sanitizer(ReportParts const& parts);

}}  // namespace testlog::v1

/// Called by the hooks in keep.cc when a sanitizer reports something after which the program goes on: writes the spans
/// that each thread is in, for ten reports at most. Async-signal-safe.
extern "C" void testlog_on_sanitizer_report(char const* sanitizer) noexcept;
