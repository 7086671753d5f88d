// Declares what is emitted when a perf span ends.
#pragma once

#include "tracing_core/format/perf_line.h"  // kCompletionMessage
#include "tracing_core/model/metadata.h"
#include "tracing_core/perf/perf_summary.h"

namespace tracing::inline v1::internal {

// The metadata of the event that tells how long a span of this callsite took: message, duration_us, duration_ms; level,
// target and place are the span's. Made once for each callsite and kept, since records name it. REQUIRES: the callsite lives
// as long as the program, and the lock of all tables is held. Throws where memory runs out.
Metadata const& completion_of(Metadata const& span);

// Sorts the rows and sets their shares.
void order(PerfSummary& summary);

}  // namespace tracing::inline v1::internal
