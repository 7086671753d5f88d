// TRACE_MAKE_SPAN in places where a statement cannot be: as the initializer of a global, of members and of captures,
// and as a default argument.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace span_initializer_test { namespace {

using tracing_test::Recording;
using Lines = std::vector<std::string>;

std::optional<Recording> early_recording(std::in_place);
std::shared_ptr<tracing_test::RecordingSubscriber> const early_subscriber = early_recording->shared();
tracing::Span const global_span = TRACE_MAKE_SPAN(info, "global", tracing::kv("n", 1));
Lines const early_lines = [] {
  early_recording.reset();
  return early_subscriber->take();
}();

int evaluated = 0;

struct Layer {
  int width = 4;
  tracing::Span span = TRACE_MAKE_SPAN(info, "layer", width, tracing::kv("evaluated", ++evaluated));
  static inline tracing::Span const kShared = TRACE_MAKE_SPAN(info, "shared");
};

template <class T>
struct LayerOf {
  T width{4};
  tracing::Span span = TRACE_MAKE_SPAN(info, "layer of", width);
};

tracing::Span pass(tracing::Span span = TRACE_MAKE_SPAN(info, "default", tracing::kv("n", 2))) { return span; }

TEST(SpanInitializer, InitializesGlobal) {
  EXPECT_TRUE(global_span);
  EXPECT_EQ(early_lines, Lines{"new 1 global n=1"});
  EXPECT_EQ(global_span.metadata()->target(), "span_initializer_test");
}

TEST(SpanInitializer, InitializesMembers) {
  Recording recording;
  Layer const layer;
  LayerOf<int> const other;
  EXPECT_EQ(recording->take(), (Lines{"new 1 layer width=4 evaluated=1", "new 2 layer of width=4"}));
  EXPECT_EQ(layer.span.metadata()->target(), "span_initializer_test::Layer");
}

TEST(SpanInitializer, EvaluatesNothingIfDisabled) {
  int const before = evaluated;
  Recording recording(tracing::LevelFilter::warn);
  EXPECT_FALSE(Layer().span);
  EXPECT_EQ(evaluated, before);
}

TEST(SpanInitializer, InitializesDefaultArgument) {
  Recording recording;
  tracing::Span const span = pass();
  EXPECT_EQ(recording->take(), Lines{"new 1 default n=2"});
}

TEST(SpanInitializer, InitializesCapture) {
  Recording recording;
  auto const f = [n = 3, span = TRACE_MAKE_SPAN(info, "captured")] { return span.is_none() ? 0 : n; };
  EXPECT_EQ(f(), 3);
}

TEST(SpanInitializer, MayMakeAnotherInItsArguments) {
  Recording recording;
  auto const inner = [] { return TRACE_MAKE_SPAN(info, "inner").id().value; };
  auto const outer = TRACE_MAKE_SPAN(info, "outer", tracing::kv("inner", inner()));
  EXPECT_EQ(outer.metadata()->name(), "outer");
}

}}  // namespace span_initializer_test
