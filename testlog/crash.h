// The report of a test that dies by a signal.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. They write the name of the running test, the
/// spans that each thread is in, and the captured records not shown yet; then the earlier handler runs. They are silent
/// in the children of death tests. A second call has no effect.
void install_crash_handlers(Session& session);

}  // namespace testlog::inline v1
