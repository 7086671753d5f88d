// Tests that a span that loses its last handle while threads are in it closes when the last thread leaves it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/registry_test_support.h"
#include "tracing_core/tracing.h"

namespace registry_test { namespace {

using tracing::EnteredSpan;
using tracing::Span;
using tracing::internal::Entered;

// Runs `f` on another thread with the same subscriber.
template <class F>
void on_thread(std::shared_ptr<Registry> const& registry, F f) {
  std::thread([&] { with_default(registry, f); }).join();
}

// Returns the lines except those that begin with "new".
Lines after_creation(Lines lines) {
  std::erase_if(lines, [](std::string const& line) { return line.starts_with("new "); });
  return lines;
}

TEST(EnteredSpanTest, ClosesWhenItsOwnerIsGoneAndTheGuardLeavesIt) {
  struct Connection {
    Span span = TRACE_MAKE_SPAN(info, "connection");
    void on_close(std::unique_ptr<Connection>& owner) {
      auto const in = span.enter();
      owner.reset();
      TRACE_INFO("still in the block of the guard");
      TRACE_SPAN(info, "cleanup");
      TRACE_INFO("cleaning up");
    }
  };
  auto const lines = journal_of([] {
    auto connection = std::make_unique<Connection>();
    connection->on_close(connection);
    TRACE_INFO("after");
  });
  EXPECT_EQ(lines, (Lines{"new connection", "enter connection", "event connection", "new connection/cleanup",
                          "enter connection/cleanup", "event connection/cleanup", "exit connection/cleanup",
                          "close connection/cleanup", "exit connection", "close connection", "event "}));
}

TEST(EnteredSpanTest, ClosesAfterTheGuardIfItsHandleIsReplaced) {
  auto const lines = journal_of([] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    {
      auto const in = span.enter();
      span = Span::none();
      TRACE_INFO("inside");
    }
    span = TRACE_MAKE_SPAN(info, "b");
    auto const in = span.enter();
    span = TRACE_MAKE_SPAN(info, "c");
    TRACE_INFO("inside");
  });
  EXPECT_EQ(after_creation(lines),
            (Lines{"enter a", "event a", "exit a", "close a", "enter b", "event b", "exit b", "close b/c", "close b"}));
}

TEST(EnteredSpanTest, ClosesAfterTheFunctionThatDropsItsHandle) {
  auto const lines = journal_of([] {
    auto owner = std::make_unique<Span>(TRACE_MAKE_SPAN(info, "a"));
    owner->in_scope([&owner] {
      owner.reset();
      TRACE_INFO("inside");
    });
    TRACE_INFO("outside");
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "event a", "exit a", "close a", "event "}));
}

TEST(EnteredSpanTest, EnteredTwiceClosesAfterTheOuterGuard) {
  auto const lines = journal_of([] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    auto const outer = span.enter();
    {
      auto const inner = span.enter();
      span = {};
    }
    TRACE_INFO("inside");
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "enter a", "exit a", "event a", "exit a", "close a"}));
}

TEST(EnteredSpanTest, ANewHandleInsideKeepsItOpen) {
  auto const lines = journal_of([] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    {
      auto const in = span.enter();
      span = {};
      span = Span::current();
    }
    span.in_scope([] { TRACE_INFO("again"); });
    span = {};
    TRACE_INFO("outside");
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "exit a", "enter a", "event a", "exit a", "close a", "event "}));
}

TEST(EnteredSpanTest, AParentThatIsLeftToItsGuardOutlivesItsChild) {
  auto const lines = journal_of([] {
    auto parent = TRACE_MAKE_SPAN(info, "parent");
    auto const in = parent.enter();
    auto child = TRACE_MAKE_SPAN(info, "child");
    parent = {};
    child = {};
    TRACE_INFO("inside");
  });
  EXPECT_EQ(after_creation(lines),
            (Lines{"enter parent", "close parent/child", "event parent", "exit parent", "close parent"}));
}

TEST(EnteredSpanTest, GuardsMayMoveAndEndInAnyOrder) {
  auto const lines = journal_of([] {
    auto a = TRACE_MAKE_SPAN(info, "a");
    auto in_a = std::make_unique<Entered>(a.open());
    a = {};
    EnteredSpan guard = TRACE_MAKE_SPAN(info, "b").enter();
    std::optional<EnteredSpan> in_b(std::move(guard));
    std::optional<EnteredSpan> in_c(TRACE_MAKE_SPAN(info, "c").enter());
    in_a.reset();
    TRACE_INFO("in c");
    in_c.reset();
    TRACE_INFO("in b");
  });
  // The child keeps its parents open.
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "enter a/b", "enter a/b/c", "exit a", "event a/b/c", "exit a/b/c",
                                          "close a/b/c", "event a/b", "exit a/b", "close a/b", "close a"}));
}

TEST(EnteredSpanTest, ASlotIsNotReusedBeforeTheGuardLeavesIt) {
  auto const lines = journal_of([] {
    auto span = TRACE_MAKE_SPAN(info, "a", tracing::parent(nullptr));
    auto in = std::make_unique<Entered>(span.open());
    span = {};
    TRACE_SPAN(info, "next");
    TRACE_SPAN(info, "after_next");
    in.reset();
    TRACE_INFO("inside");
  });
  EXPECT_EQ(after_creation(lines),
            (Lines{"enter a", "enter a/next", "enter a/next/after_next", "exit a", "event a/next/after_next",
                   "exit a/next/after_next", "close a/next/after_next", "exit a/next", "close a/next", "close a"}));
}

TEST(EnteredSpanTest, AScopeEndsInsideAGuardOfItsOwnSpan) {
  auto const lines = journal_of([] {
    std::unique_ptr<Entered> in;
    {
      TRACE_SPAN(info, "scope");
      in = std::make_unique<Entered>(Span::current().open());
    }
    TRACE_INFO("inside");
    in.reset();
    TRACE_INFO("outside");
  });
  EXPECT_EQ(after_creation(lines),
            (Lines{"enter scope", "enter scope", "exit scope", "event scope", "exit scope", "close scope", "event "}));
}

TEST(EnteredSpanTest, ALocalRegistryEndsWithTheGuard) {
  for (bool on_other_thread : {false, true}) {
    Lines lines;
    bool destroyed = false;
    auto registry = RegistryBuilder().with(std::make_unique<Journal>(lines, &destroyed)).build();
    Span span;
    std::unique_ptr<Entered> in;
    with_default(registry, [&] {
      span = TRACE_MAKE_SPAN(info, "a");
      in = std::make_unique<Entered>(span.open());
    });
    registry.reset();
    if (on_other_thread) {
      std::thread([span = std::move(span)]() mutable { span = {}; }).join();
    } else {
      span = {};
    }
    EXPECT_FALSE(destroyed);
    in.reset();
    EXPECT_TRUE(destroyed);
    EXPECT_EQ(lines, (Lines{"new a", "enter a", "exit a", "close a"}));
  }
}

TEST(EnteredSpanTest, ClosesAfterTheLastOfSeveralThreads) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
  std::atomic<int> inside{0};
  std::atomic<int> may_leave{0};
  with_default(registry, [&] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    std::optional<Entered> in(std::in_place, span.open());
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t, copy = span]() mutable {
        std::optional<Entered> mine(std::in_place, copy.open());
        copy = {};
        ++inside;
        while (may_leave <= t) std::this_thread::yield();
        mine.reset();
      });
    }
    while (inside < 3) std::this_thread::yield();
    span = {};
    in.reset();
    for (auto& thread : threads) {
      EXPECT_TRUE(registry->has_open_spans());
      ++may_leave;
      thread.join();
    }
  });
  EXPECT_EQ(after_creation(lines),
            (Lines{"enter a", "enter a", "enter a", "enter a", "exit a", "exit a", "exit a", "exit a", "close a"}));
}

TEST(EnteredSpanTest, TheThreadThatMadeItClosesItIfAnotherDropsItsHandle) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
  with_default(registry, [&] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    auto const in = span.enter();
    on_thread(registry, [span = std::move(span)]() mutable { span.in_scope([&span] { span = {}; }); });
    TRACE_INFO("inside");
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "enter a", "exit a", "event a", "exit a", "close a"}));
}

TEST(EnteredSpanTest, AnotherThreadIsInTheSpanOfAScopeThatEnds) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
  std::atomic<bool> inside{false};
  std::atomic<bool> may_leave{false};
  std::thread thread;
  with_default(registry, [&] {
    TRACE_SPAN(info, "scope");
    thread = std::thread([&, span = Span::current()]() mutable {
      Entered const in(span.open());
      span = {};
      inside = true;
      while (!may_leave) std::this_thread::yield();
    });
    while (!inside) std::this_thread::yield();
  });
  EXPECT_TRUE(registry->has_open_spans());
  may_leave = true;
  thread.join();
  EXPECT_EQ(after_creation(lines), (Lines{"enter scope", "enter scope", "exit scope", "exit scope", "close scope"}));
}

TEST(EnteredSpanTest, AThreadThatEndsInsideLeavesIt) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
  on_thread(registry, [] {
    auto span = TRACE_MAKE_SPAN(info, "own");
    tracing::internal::enter(span.open());
    tracing::internal::enter(span.open());
  });
  Span other = with_default(registry, [] { return TRACE_MAKE_SPAN(info, "other"); });
  on_thread(registry, [&] {
    tracing::internal::enter(other.open());
    other = {};
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter own", "enter own", "exit own", "exit own", "close own", "enter other",
                                          "exit other", "close other"}));
}

// This is not allowed, but the span must not stay open for good.
TEST(EnteredSpanTest, AGuardThatEndsOnAnotherThreadClosesItWithItsHandle) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
  with_default(registry, [&] {
    auto guard = std::make_unique<EnteredSpan>(TRACE_MAKE_SPAN(info, "a").entered());
    on_thread(registry, [&] { guard.reset(); });
    TRACE_INFO("outside");
  });
  EXPECT_EQ(after_creation(lines), (Lines{"enter a", "close a", "event "}));
}

// Lets two threads meet at each number.
class Meeting {
 public:
  void at(int number) {
    arrived_.fetch_add(1);
    while (arrived_.load() < 2 * number) std::this_thread::yield();
  }

 private:
  std::atomic<int> arrived_{0};
};

// Counts the calls for each span.
class Counting final : public tracing::Layer {
 public:
  void on_exit(SpanRef, tracing::Context const&) noexcept override { ++exits; }
  void on_close(SpanRef, tracing::Context const&) noexcept override { ++closes; }
  static inline std::atomic<int> exits{0};
  static inline std::atomic<int> closes{0};
};

TEST(EnteredSpanTest, ClosesOnceIfTheHandleGoesWhileTheGuardEnds) {
  constexpr int kRounds = 3000;
  Counting::exits = Counting::closes = 0;
  std::vector<Span> spans(kRounds);
  Meeting meeting;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      meeting.at(i + 1);
      for (int n = 0; n < i % 50; ++n) std::atomic_signal_fence(std::memory_order_seq_cst);
      spans[i] = {};
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    // Each round has a registry of its own, which ends with the span.
    auto registry = RegistryBuilder().with(std::make_unique<Counting>()).build();
    std::optional<Entered> in;
    with_default(registry, [&] {
      spans[i] = TRACE_MAKE_SPAN(info, "a");
      in.emplace(spans[i].open());
    });
    registry.reset();
    meeting.at(i + 1);
    for (int n = 0; n < i / 50 % 50; ++n) std::atomic_signal_fence(std::memory_order_seq_cst);
    in.reset();
  }
  other.join();
  EXPECT_EQ(Counting::exits, kRounds);
  EXPECT_EQ(Counting::closes, kRounds);
}

TEST(EnteredSpanTest, ClosesOnceIfAHandleMadeInsideGoesAsWell) {
  constexpr int kRounds = 3000;
  Counting::exits = Counting::closes = 0;
  auto const registry = RegistryBuilder().with(std::make_unique<Counting>()).build();
  std::vector<Span> spans(kRounds);
  Meeting meeting;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      meeting.at(i + 1);
      spans[i] = {};
    }
  });
  with_default(registry, [&] {
    for (int i = 0; i < kRounds; ++i) {
      spans[i] = TRACE_MAKE_SPAN(info, "a");
      std::optional<Entered> in(std::in_place, spans[i].open());
      meeting.at(i + 1);
      Span second = i % 3 == 0 ? Span() : Span::current();
      in.reset();
      if (i % 3 == 2 && second) {
        in.emplace(second.open());
        second = {};
        in.reset();
      }
    }
  });
  other.join();
  EXPECT_EQ(Counting::closes, kRounds);
  EXPECT_FALSE(registry->has_open_spans());
}

// If this took quadratic time, it would take minutes.
TEST(EnteredSpanTest, ManySpansAreEnteredWithinEachOther) {
  constexpr int kDepth = 200000;
  auto const registry = RegistryBuilder().with(std::make_unique<Counting>()).build();
  with_default(registry, [&] {
    std::vector<Span> spans;
    for (int i = 0; i < kDepth; ++i) spans.push_back(TRACE_MAKE_SPAN(info, "a", tracing::parent(nullptr)));
    auto const enter_all = [&] {
      std::vector<std::unique_ptr<Entered>> guards;
      for (Span const& span : spans) guards.push_back(std::make_unique<Entered>(span.open()));
      while (!guards.empty()) guards.pop_back();
    };
    enter_all();
    on_thread(registry, enter_all);
  });
}

}}  // namespace registry_test
