// The captured records of the running test.
#pragma once

#include <string>

#include "testlog/session.h"

namespace testlog::inline v1 {

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
