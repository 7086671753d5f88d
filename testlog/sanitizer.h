// Reports beside those of sanitizers.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// If the program has the runtime of a sanitizer: before the sanitizer ends the process, writes what a fatal signal would write but for
/// the stack, which is in the sanitizer's own report. A callback that the program sets later takes the place of this one. After the tests
/// nothing is written.
void watch_sanitizer(Session& session);

}  // namespace testlog::inline v1

/// Called by the hooks in keep.cc when a sanitizer reports something after which the program goes on: writes the spans that each thread
/// is in, for ten reports at most. Async-signal-safe.
extern "C" void testlog_on_sanitizer_report(char const* sanitizer) noexcept;
