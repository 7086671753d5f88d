// Makes the spans of tests.
#pragma once

#include <cstdint>

#include "testlog/cli/otlp/otlp_model.h"
#include "testlog/cli/otlp/run_facts.h"
#include "tracing_core/environment/trace_context.h"

namespace testlog::cli::otlp {

/// Returns the span of a test in the trace of the run.
Span test_span(TestFacts const& test, std::uint32_t tag, tracing::environment::TraceIds const& ids);

/// What a trace lacks.
struct Missing {
  std::uint64_t spans = 0;    ///< left out, since the trace would be too large
  std::uint64_t records = 0;  ///< overwritten in the recording
};
/// Returns the span around all that happened in the test, the root of the test's own trace. `test` is null if the
/// recording has lost the beginning of the test.
Span inner_span(TestFacts const* test, std::uint32_t tag, tracing::environment::TraceIds const& ids,
                RunFacts const& facts, Missing missing);

/// Adds the failures to a span, and sets its status.
void add_failures(Span& span, TestFacts const& test);

}  // namespace testlog::cli::otlp
