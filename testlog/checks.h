// Declares the checks that testlog makes of a test when it ends.
#pragma once

#include "testlog/session.h"
#include "tracing_core/model/level.h"

namespace testlog::inline v1 {

/// Raises a failure for events of `level` and more important ones that the running test recorded, and one where that cannot
/// be known: TRACE_CAPTURE is off or leaves the level out, or the ring lost records of the test.
void check_fail_on(Session& session, tracing::Level level);

/// Why the captured records of the running test are not all there; empty where they are.
std::string why_incomplete(Session const& session);

}  // namespace testlog::inline v1
