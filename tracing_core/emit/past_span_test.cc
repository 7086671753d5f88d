#include "tracing_core/emit/past_span.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace past_span_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tracing::Instant;
using tracing::Span;
using tracing::Value;

class PastSpan : public testing::Test {
 protected:
  void emit(Span const& cause = {}) {
    Value const values[] = {Value::of_u64(64)};
    tracing::emit_past_span(callsite_.callsite(), values, {track_, Instant{1000}, Instant{3000}}, cause);
  }

  tracing::Track const track_{9000, "GPU 0 stream 7"};
  tracing::RuntimeCallsite const callsite_{
      {.kind = tracing::Kind::span, .name = "copy", .level = tracing::Level::debug, .fields = {"bytes"}}};
};

TEST_F(PastSpan, IsARootThatBeginsAndEnds) {
  tracing_test::Recording recording;
  TRACE_SPAN(info, "around");
  (void)recording->take();
  emit();
  EXPECT_THAT(recording->take(), ElementsAre("new 2 copy root bytes=64", "enter 2", "exit 2", "close 2"));
}

TEST_F(PastSpan, FollowsFromItsCauseOnAThreadWithoutSubscriber) {
  tracing_test::Recording recording;
  auto const cause = TRACE_MAKE_SPAN(info, "cause");
  (void)recording->take();
  std::thread([&] { emit(cause); }).join();
  EXPECT_THAT(recording->take(),
              ElementsAre("new 2 copy root bytes=64", "follows 2 1", "enter 2", "exit 2", "close 2"));
}

TEST_F(PastSpan, IsNotEmittedIfItsLevelIsOff) {
  tracing_test::Recording const recording(tracing::LevelFilter::info);
  emit();
  EXPECT_THAT(recording->take(), IsEmpty());
}

}}  // namespace past_span_test
