#include "tracing_core/inspect/entered_stacks.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tracing::recording { namespace {

TEST(EnteredStacks, MeasureTimesOfADamagedRecording) {
  Track const track{1, "main"};
  EnteredStacks<int> stacks;
  stacks.enter(track, SpanId{1}, Instant{INT64_MIN}, 0);
  stacks.enter(track, SpanId{2}, Instant{INT64_MAX}, 0);
  EXPECT_EQ(stacks.leave(track, SpanId{2}, Instant{INT64_MIN})->ns, 0u) << "it ends before it begins";
  EXPECT_EQ(stacks.leave(track, SpanId{1}, Instant{INT64_MAX})->ns, UINT64_MAX);
}

}}  // namespace tracing::recording
