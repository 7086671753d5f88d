// Declares what happens when a test dies by a signal.
#pragma once

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Puts handlers before those that are there, for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT: they write the name of the
/// running test, the spans that each thread is in, and the captured records that were not shown; then the earlier handler
/// runs as if ours had not been. They are silent in the children of death tests. To be called once.
void install_crash_handlers(Session& session);

}  // namespace testlog::inline v1
