// Checks of the captured records of a test.
#pragma once

#include <string>

#include "testlog/session.h"
#include "tracing_core/model/level.h"

namespace testlog::inline v1 {

/// Raises a failure for each event of `level` or a more severe one that the running test recorded, and one if such
/// events may be missing: TRACE_CAPTURE is off or leaves the level out, or the ring lost records of the test.
void check_fail_on(Session& session, tracing::Level level);

/// Calls `f` with each captured record that belongs to the running test, oldest first.
template <class F>
void for_each_record_of_test(Session& session, F&& f) {
  tracing::RecordRing const* const ring = session.capture().ring();
  if (ring == nullptr) return;
  ring->snapshot(session.capture().first_record_of_test()).for_each([&](tracing::RecordView const& record) {
    Owner const owner = session.attribution().owner_of(record);
    if (!owner.late && owner.test == session.attribution().running()) f(record);
  });
}

/// Why captured records of the running test are missing; empty if none are.
std::string why_incomplete(Session& session);

}  // namespace testlog::inline v1
