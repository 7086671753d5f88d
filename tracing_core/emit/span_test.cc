#include "tracing_core/emit/span.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace span_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tracing::Span;
using tracing_test::Recording;

class SpanTest : public testing::Test {
 protected:
  std::vector<std::string> lines() { return recording_->take(); }
  Recording recording_;
};

TEST_F(SpanTest, EntersAndLeavesInOrder) {
  int const n = 2;
  {
    TRACE_SPAN(info, "a", n);
    TRACE_SPAN(debug, "b");
    TRACE_FN(trace);
  }
  EXPECT_THAT(lines(), ElementsAre("new 1 a n=2", "enter 1", "new 2 b", "enter 2", "new 3 TestBody", "enter 3",
                                   "exit 3", "close 3", "exit 2", "close 2", "exit 1", "close 1"));
}

TEST_F(SpanTest, MakeSpanDoesNotEnter) {
  {
    Span const span = TRACE_MAKE_SPAN(info, "a");
    EXPECT_TRUE(span);
    EXPECT_EQ(recording_->open_spans(), 1U);
  }
  EXPECT_THAT(lines(), ElementsAre("new 1 a", "close 1"));
}

TEST_F(SpanTest, EnterReturnsAGuard) {
  Span const span = TRACE_MAKE_SPAN(info, "a");
  {
    auto const first = span.enter();
    auto const again = span.enter();
    EXPECT_EQ(Span::current(), span);
  }
  { auto const later = span.enter(); }
  EXPECT_THAT(lines(), ElementsAre("new 1 a", "enter 1", "enter 1", "exit 1", "exit 1", "enter 1", "exit 1"));
}

TEST_F(SpanTest, EnteredSpanOwnsItsHandle) {
  {
    tracing::EnteredSpan entered = TRACE_MAKE_SPAN(info, "a").entered();
    EXPECT_EQ(entered.span().metadata()->name(), "a");
    tracing::EnteredSpan const moved = std::move(entered);
    EXPECT_EQ(lines(), (std::vector<std::string>{"new 1 a", "enter 1"}));
  }
  EXPECT_THAT(lines(), ElementsAre("exit 1", "close 1"));
  Span const left = TRACE_MAKE_SPAN(info, "b").enter().exit();
  EXPECT_THAT(lines(), ElementsAre("new 2 b", "enter 2", "exit 2"));
  EXPECT_TRUE(left);
}

TEST_F(SpanTest, CanBeLeftInAnyOrder) {
  Span const a = TRACE_MAKE_SPAN(info, "a");
  Span const b = TRACE_MAKE_SPAN(info, "b");
  std::optional inside_a(Span(a).entered());
  std::optional inside_b(Span(b).entered());
  inside_a.reset();
  EXPECT_EQ(Span::current(), b);
  inside_b.reset();
  EXPECT_TRUE(Span::current().is_none());
  EXPECT_THAT(lines(), ElementsAre("new 1 a", "new 2 b", "enter 1", "enter 2", "exit 1", "exit 2"));
}

TEST_F(SpanTest, InScopeCallsAFunctionInside) {
  Span const span = TRACE_MAKE_SPAN(info, "a");
  EXPECT_EQ(span.in_scope([&] { return Span::current() == span ? 3 : 0; }), 3);
  int n = 0;
  static_assert(std::is_same_v<decltype(span.in_scope([&]() -> int& { return n; })), int&>);
  EXPECT_THROW(span.in_scope([] { throw std::runtime_error("out"); }), std::runtime_error);
  EXPECT_THAT(lines(), ElementsAre("new 1 a", "enter 1", "exit 1", "enter 1", "exit 1"));
}

TEST_F(SpanTest, RecordsValuesLater) {
  int const id = 1;
  Span const span = TRACE_MAKE_SPAN(info, "a", id, tracing::kv("status", tracing::empty), tracing::kv("text", ""));
  span.record(tracing::kv("status", 200)).record(tracing::kv("text", "x"), tracing::kv("id", 2));
  span.record(tracing::kv("unknown", 1));
  span.record();
  EXPECT_THAT(lines(),
              ElementsAre("new 1 a id=1 text=\"\"", "record 1 status=200", "record 1 text=\"x\"", "record 1 id=2"));
  EXPECT_TRUE(span.has_field("status"));
  EXPECT_FALSE(span.has_field("unknown"));
  std::string const made = "at run time";
  span.record(tracing::kv("text", made + "!"));
  EXPECT_THAT(lines(), ElementsAre("record 1 text=\"at run time!\""));
}

TEST_F(SpanTest, RecordsAllValuesAtOnce) {
  tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = "made", .fields = {"a", "b", "c"}});
  tracing::Value const first[] = {tracing::Value::of_i64(1), {}, {}};
  Span const span = Span::make(callsite.callsite(), first);
  tracing::Value const later[] = {{}, tracing::Value::of_bool(true), tracing::Value::of_text("t")};
  span.record_all(later);
  EXPECT_THAT(lines(), ElementsAre("new 1 made a=1", "record 1 b=true c=\"t\""));
}

TEST_F(SpanTest, FollowsOthers) {
  Span const cause = TRACE_MAKE_SPAN(info, "cause");
  Span const effect = TRACE_MAKE_SPAN(info, "effect");
  effect.follows_from(cause).follows_from(Span::none());
  Span::none().follows_from(cause);
  EXPECT_THAT(lines(), ElementsAre("new 1 cause", "new 2 effect", "follows 2 1"));
  Recording const other;
  Span const elsewhere = TRACE_MAKE_SPAN(info, "elsewhere");
  effect.follows_from(elsewhere);  // of another subscriber: ignored
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(SpanTest, HasTheGivenParent) {
  Span const root = TRACE_MAKE_SPAN(info, "root", tracing::parent(nullptr));
  TRACE_SPAN(info, "current");
  Span const below = TRACE_MAKE_SPAN(info, "below", tracing::parent(root));
  { TRACE_SPAN(info, "scope", tracing::parent(below.id())); }
  { TRACE_FN(info, tracing::parent(Span::none())); }
  EXPECT_THAT(lines(),
              ElementsAre("new 1 root root", "new 2 current", "enter 2", "new 3 below below 1", "new 4 scope below 3",
                          "enter 4", "exit 4", "close 4", "new 5 TestBody root", "enter 5", "exit 5", "close 5"));
}

TEST_F(SpanTest, OrCurrentIsTheCurrentOneIfThereIsNone) {
  Span const none;
  EXPECT_TRUE(none.or_current().is_none());
  TRACE_SPAN(info, "current");
  Span const other = TRACE_MAKE_SPAN(info, "other");
  EXPECT_EQ(none.or_current(), Span::current());
  EXPECT_EQ(Span().or_current(), Span::current());
  EXPECT_EQ(other.or_current(), other);
  EXPECT_EQ(Span(other).or_current(), other);
}

TEST_F(SpanTest, CurrentIsTheInnermostEnteredSpan) {
  EXPECT_TRUE(Span::current().is_none());
  {
    TRACE_SPAN(info, "block");
    Span const current = Span::current();
    EXPECT_EQ(current.metadata()->name(), "block");
    EXPECT_EQ(current.id().value, 1U);
  }
  EXPECT_THAT(lines(), ElementsAre("new 1 block", "enter 1", "exit 1", "close 1"));
}

TEST_F(SpanTest, IsCopiedAndMovedLikeAValue) {
  std::optional<Span> a(TRACE_MAKE_SPAN(info, "a"));
  Span b = *a;
  Span c = std::move(*a);
  EXPECT_TRUE(a->is_none());  // NOLINT: tests the moved-from state
  EXPECT_EQ(a->metadata(), nullptr);
  EXPECT_EQ(b, c);
  Span& same = b;
  b = same;
  b = std::move(same);
  EXPECT_EQ(b, c);
  a.reset();
  c = Span();
  EXPECT_THAT(lines(), ElementsAre("new 1 a"));
  b = TRACE_MAKE_SPAN(info, "b");
  EXPECT_THAT(lines(), ElementsAre("new 2 b", "close 1"));
}

TEST_F(SpanTest, NoneDoesNothing) {
  Span const none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(none.is_disabled());
  EXPECT_EQ(none, Span::none());
  { auto const inside = none.enter(); }
  { auto const entered = Span().entered(); }
  none.record(tracing::kv("a", 1));
  none.record_all(nullptr);
  EXPECT_EQ(none.in_scope([] { return 1; }), 1);
  EXPECT_FALSE(none.has_field("a"));
  Span const copy = none;
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(SpanTest, MovedFromSpanDoesNothing) {
  Span span = TRACE_MAKE_SPAN(info, "a", tracing::kv("n", 1));
  Span const taken = std::move(span);
  lines();
  { auto const inside = span.enter(); }  // NOLINT
  span.record(tracing::kv("n", 2));
  span.follows_from(taken);
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(SpanTest, IsNoneIfItsLevelIsNotWanted) {
  Recording const others(tracing::LevelFilter::warn);
  EXPECT_TRUE(TRACE_MAKE_SPAN(info, "a").is_none());
  Span const wanted = TRACE_MAKE_SPAN(warn, "b");
  EXPECT_FALSE(wanted.is_none());
}

TEST_F(SpanTest, ClosesOnAnotherThread) {
  Span span = TRACE_MAKE_SPAN(info, "a");
  std::thread([moved = std::move(span)]() mutable {
    { auto const inside = moved.enter(); }
    moved = Span();
  }).join();
  EXPECT_THAT(lines(), ElementsAre("new 1 a", "enter 1", "exit 1", "close 1"));
}

TEST_F(SpanTest, SharesAHandleBetweenThreads) {
  int const n = 0;
  Span const span = TRACE_MAKE_SPAN(info, "shared", n);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([span, i] {
      auto const inside = span.enter();
      span.record(tracing::kv("n", i));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lines().size(), 1U + 4 * 3);
  EXPECT_EQ(recording_->open_spans(), 1U);
}

TEST_F(SpanTest, WithCurrentSpanWorksOnAnotherThread) {
  std::string name;
  {
    TRACE_SPAN(info, "outer");
    auto work = tracing::with_current_span([&name](int n, std::unique_ptr<int> owned) {
      Span const current = Span::current();
      name = current ? std::string(current.metadata()->name()) : "none";
      return n + *owned;
    });
    int sum = 0;
    std::thread([&] {
      tracing::ScopedDefault const scope(recording_.shared());
      sum = work(1, std::make_unique<int>(2));
      EXPECT_TRUE(Span::current().is_none());
    }).join();
    EXPECT_EQ(sum, 3);
  }
  EXPECT_EQ(name, "outer");
  auto outside = tracing::with_current_span([] { return Span::current().is_none(); });
  EXPECT_TRUE(outside());
  EXPECT_THAT(lines(), ElementsAre("new 1 outer", "enter 1", "enter 1", "exit 1", "exit 1", "close 1"));
}

TEST_F(SpanTest, BelongsToTheSubscriberThatMadeIt) {
  Span const span = TRACE_MAKE_SPAN(info, "a", tracing::kv("n", 1));
  {
    Recording const other;
    auto const inside = span.enter();
    span.record(tracing::kv("n", 2));
    EXPECT_THAT(other->take(), IsEmpty());
  }
  EXPECT_THAT(lines(), ElementsAre("new 1 a n=1", "enter 1", "record 1 n=2", "exit 1"));
}

TEST_F(SpanTest, CanHaveARuntimeCallsite) {
  Span span;
  {
    tracing::RuntimeCallsite const callsite(
        {.kind = tracing::Kind::span, .name = "made", .target = "t", .level = tracing::Level::warn, .fields = {"n"}});
    tracing::Value const values[] = {tracing::Value::of_i64(5)};
    span = Span::make(callsite.callsite(), values, tracing::Parent::root());
    EXPECT_EQ(span.metadata()->level(), tracing::Level::warn);
  }
  EXPECT_THAT(lines(), ElementsAre("new 1 made root n=5"));
}

}}  // namespace span_test
