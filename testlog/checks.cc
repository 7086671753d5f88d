#include "testlog/checks.h"

namespace testlog::inline v1 {

std::string why_incomplete(Session& session) {
  tracing::RecordRing const* const ring = session.capture().ring();
  if (ring == nullptr) return "nothing is captured: TRACE_CAPTURE is off";
  std::uint64_t const lost = ring->dropped_of(ring->tag());
  if (lost == 0) return {};
  return "the ring was full and lost " + std::to_string(lost) + " records of this test";
}

}  // namespace testlog::inline v1
