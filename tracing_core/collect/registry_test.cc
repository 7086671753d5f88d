#include "tracing_core/collect/registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/layer_vector.h"
#include "tracing_core/collect/registry_test_support.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace registry_test { namespace {

// Lets all records pass except those with this name.
class NotNamed final : public tracing::Filter {
 public:
  explicit NotNamed(std::string name) : name_(std::move(name)) {}
  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override {
    return enabled(metadata) ? tracing::Interest::always : tracing::Interest::never;
  }
  bool enabled(tracing::Metadata const& metadata) noexcept override { return metadata.name() != name_; }

 private:
  std::string name_;
};

TEST(Registry, ParentsAreContextualExplicitOrNone) {
  auto const lines = journal_of([] {
    TRACE_SPAN(info, "a");
    auto const b = TRACE_MAKE_SPAN(info, "b");
    TRACE_SPAN(info, "c", tracing::parent(b));
    TRACE_INFO("in c");
    TRACE_INFO("in b", tracing::parent(b));
    TRACE_INFO("at the root", tracing::parent(nullptr));
    auto const root = TRACE_MAKE_SPAN(info, "root", tracing::parent(nullptr));
  });
  EXPECT_EQ(lines,
            (Lines{"new a", "enter a", "new a/b", "new a/b/c", "enter a/b/c", "event a/b/c", "event a/b", "event ",
                   "new root", "close root", "exit a/b/c", "close a/b/c", "close a/b", "exit a", "close a"}));
}

TEST(Registry, ASpanEnteredTwiceIsLeftTwice) {
  auto const lines = journal_of([] {
    auto const a = TRACE_MAKE_SPAN(info, "a");
    auto const outer = a.enter();
    {
      auto const inner = a.enter();
      TRACE_INFO("inside");
    }
    TRACE_INFO("still inside");
  });
  EXPECT_EQ(lines, (Lines{"new a", "enter a", "enter a", "event a", "exit a", "event a", "exit a", "close a"}));
}

TEST(Registry, ExitsMayComeInAnyOrder) {
  auto const lines = journal_of([] {
    auto const a = TRACE_MAKE_SPAN(info, "a");
    auto const b = TRACE_MAKE_SPAN(info, "b", tracing::parent(nullptr));
    std::optional<tracing::EnteredSpan> in_a(tracing::Span(a).entered());
    auto const in_b = b.enter();
    in_a.reset();
    TRACE_INFO("in b");
  });
  EXPECT_EQ(lines,
            (Lines{"new a", "new b", "enter a", "enter b", "exit a", "event b", "exit b", "close b", "close a"}));
}

TEST(Registry, AChildKeepsItsParentOpenEvenIfTheParentIsLeftFirst) {
  auto const lines = journal_of([] {
    std::optional<tracing::EnteredSpan> parent(TRACE_MAKE_SPAN(info, "parent").entered());
    TRACE_SPAN(info, "child");
    parent.reset();
    TRACE_INFO("in the child");
  });
  EXPECT_EQ(lines, (Lines{"new parent", "enter parent", "new parent/child", "enter parent/child", "exit parent",
                          "event parent/child", "exit parent/child", "close parent/child", "close parent"}));
}

TEST(Registry, AHandleOfAChildKeepsItsParentScopesOpen) {
  auto const lines = journal_of([] {
    tracing::Span child;
    {
      TRACE_SPAN(info, "a");
      TRACE_SPAN(info, "b");
      child = TRACE_MAKE_SPAN(info, "child");
    }
    TRACE_INFO("in the child", tracing::parent(child));
  });
  EXPECT_EQ(lines, (Lines{"new a", "enter a", "new a/b", "enter a/b", "new a/b/child", "exit a/b", "exit a",
                          "event a/b/child", "close a/b/child", "close a/b", "close a"}));
}

TEST(Registry, ScopesOpenWhileTheSpanOfAnEarlierScopeIsHeld) {
  with_default(RegistryBuilder().build(), [] {
    tracing::Span held;
    {
      TRACE_SPAN(info, "held");
      held = tracing::Span::current();
    }
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "later");
      EXPECT_EQ(tracing::Span::current().metadata()->name(), "later");
      EXPECT_NE(tracing::Span::current().id(), held.id());
      TRACE_SPAN(info, "inner", i);
      EXPECT_EQ(tracing::Span::current().metadata()->name(), "inner");
    }
    EXPECT_EQ(held.metadata()->name(), "held");
    EXPECT_TRUE(tracing::current_subscriber()->has_open_spans());
    held = {};
    EXPECT_FALSE(tracing::current_subscriber()->has_open_spans());
    TRACE_SPAN(info, "after");
    EXPECT_EQ(tracing::Span::current().metadata()->name(), "after");
  });
}

TEST(Registry, ASpanThatLosesItsHandleWhileEnteredClosesAtItsExit) {
  auto const lines = journal_of([] {
    for (int i = 0; i < 3; ++i) {
      auto span = TRACE_MAKE_SPAN(info, "a");
      auto const open = span.open();
      tracing::internal::enter(open);
      span = {};
      tracing::internal::exit(open);
      TRACE_INFO("outside");
    }
  });
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 4), (Lines{"new a", "enter a", "exit a", "close a"}));
  EXPECT_EQ(lines.size(), 15U);
}

TEST(Registry, AHandleMayCloseOnAnotherThread) {
  auto const lines = journal_of([] {
    auto span = TRACE_MAKE_SPAN(info, "a");
    std::thread([span = std::move(span)]() mutable {
      span.in_scope([] {});
      span = {};
    }).join();
  });
  EXPECT_EQ(lines, (Lines{"new a", "enter a", "exit a", "close a"}));
}

TEST(Registry, ALongChainOfSpansClosesWithoutDeepRecursion) {
  auto const registry = RegistryBuilder().build();
  with_default(registry, [] {
    auto last = TRACE_MAKE_SPAN(info, "first");
    for (int i = 0; i < 100000; ++i) last = TRACE_MAKE_SPAN(info, "next", tracing::parent(last));
  });
  EXPECT_FALSE(registry->has_open_spans());
}

void nest(int depth) {
  TRACE_SPAN(info, "level", depth);
  if (depth < 200) return nest(depth + 1);
  int count = 0;
  static_cast<Registry*>(tracing::current_subscriber())
      ->visit_current_spans([](void* n, SpanRef) { ++*static_cast<int*>(n); }, &count);
  EXPECT_EQ(count, 200);
}

TEST(Registry, ScopesNestTwoHundredLevelsDeep) {
  with_default(RegistryBuilder().build(), [] { nest(1); });
}

TEST(Registry, IsKeptUntilItsLastSpanIsClosed) {
  Lines lines;
  bool destroyed = false;
  tracing::Span span;
  with_default(RegistryBuilder().with(std::make_unique<Journal>(lines, &destroyed)).build(),
               [&] { span = TRACE_MAKE_SPAN(info, "open"); });
  EXPECT_FALSE(destroyed);
  span.in_scope([] {});
  span = {};
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(lines, (Lines{"new open", "enter open", "exit open", "close open"}));
}

TEST(Registry, AFilterHidesSpansFromItsOwnLayerOnly) {
  Lines all;
  Lines some;
  {
    auto const registry = RegistryBuilder()
                              .with(std::make_unique<Journal>(all))
                              .with(std::make_unique<Journal>(some), std::make_unique<NotNamed>("hidden"))
                              .build();
    with_default(registry, [] {
      TRACE_SPAN(info, "a");
      TRACE_SPAN(info, "hidden");
      TRACE_SPAN(info, "b");
      TRACE_INFO("deep");
    });
  }
  EXPECT_EQ(all[6], "event a/hidden/b");
  EXPECT_EQ(some, (Lines{"new a", "enter a", "new a/b", "enter a/b", "event a/b", "exit a/b", "close a/b", "exit a",
                         "close a"}));
}

// Always wants spans, and never wants other records when it is queried, like a filter that follows these spans.
class SpansOnly final : public tracing::Filter {
 public:
  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override {
    return metadata.is_span() ? tracing::Interest::always : tracing::Interest::sometimes;
  }
  bool enabled(tracing::Metadata const&) noexcept override { return false; }
};

TEST(Registry, AFilterIsNotQueriedAboutCallsitesItAlwaysWants) {
  auto const emit = [] {
    TRACE_SPAN(info, "a");
    TRACE_INFO("event");
  };
  Lines lines;
  // While there are two registries, each is queried about the records of its own thread.
  auto const other = RegistryBuilder().build();
  with_default(other, [&] {
    with_default(RegistryBuilder().with(std::make_unique<Journal>(lines), std::make_unique<SpansOnly>()).build(), emit);
    with_default(
        RegistryBuilder().with_filter(std::make_unique<SpansOnly>()).with(std::make_unique<Journal>(lines)).build(),
        emit);
  });
  EXPECT_EQ(lines, (Lines{"new a", "enter a", "exit a", "close a", "new a", "enter a", "exit a", "close a"}));
}

TEST(LayerVector, SharesOneFilter) {
  Lines first;
  Lines second;
  std::vector<std::unique_ptr<tracing::Layer>> layers;
  layers.push_back(std::make_unique<Journal>(first));
  layers.push_back(nullptr);
  layers.push_back(std::make_unique<Journal>(second));
  with_default(
      RegistryBuilder()
          .with(std::make_unique<tracing::LayerVector>(std::move(layers)), std::make_unique<NotNamed>("hidden"))
          .with(nullptr)
          .build(),
      [] {
        TRACE_SPAN(info, "hidden");
        TRACE_INFO("seen");
      });
  EXPECT_EQ(first, (Lines{"event "}));
  EXPECT_EQ(second, first);
}

TEST(Registry, DropsRecordsThatALayerEmits) {
  struct Emitting final : tracing::Layer {
    explicit Emitting(int& n) : events(n) {}
    void on_event(tracing::Event const&, tracing::Context const&) noexcept override {
      ++events;
      TRACE_INFO("from the layer");
    }
    void on_new_span(SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override {
      TRACE_SPAN(info, "from the layer");
      TRACE_INFO("from the layer");
    }
    int& events;
  };
  int events = 0;
  with_default(RegistryBuilder().with(std::make_unique<Emitting>(events)).build(), [] {
    TRACE_SPAN(info, "a");
    TRACE_INFO("from the program");
  });
  EXPECT_EQ(events, 1);
}

TEST(Registry, SpansWithAnOriginHaveTheirOwnTrackAndTime) {
  struct Seen final : tracing::Layer {
    explicit Seen(Lines& to) : lines(to) {}
    void add(char const* what, SpanRef span, tracing::Context const& context) {
      lines.push_back(std::string(what) + " " + path_of(span) + " on " + std::string(context.track().name) + " at " +
                      std::to_string(context.time().ns));
    }
    void on_new_span(SpanRef span, tracing::NewSpan const&, tracing::Context const& c) noexcept override {
      add("new", span, c);
    }
    void on_enter(SpanRef span, tracing::Context const& c) noexcept override { add("enter", span, c); }
    void on_exit(SpanRef span, tracing::Context const& c) noexcept override { add("exit", span, c); }
    void on_close(SpanRef span, tracing::Context const& c) noexcept override { add("close", span, c); }
    void on_event(tracing::Event const& e, tracing::Context const& c) noexcept override {
      add("event", c.event_span(e), c);
    }
    Lines& lines;
  };
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Seen>(lines)).build();
  with_default(registry, [&] {
    auto const launch = TRACE_MAKE_SPAN(info, "launch");
    auto const in_launch = launch.enter();
    lines.clear();
    tracing::RuntimeCallsite const kernel({.kind = tracing::Kind::span, .name = "kernel"});
    tracing::RuntimeCallsite const marker({});
    tracing::Track const stream{1000001, "stream 7"};
    auto const at = [&](std::int64_t ns) { return tracing::Origin{&stream, tracing::Instant{ns}}; };
    auto const below = tracing::Parent::below(launch.id());
    tracing::SpanId const id = registry->new_span(
        {tracing::FieldValues(kernel.metadata()), below, registry->enabled(kernel.metadata()), at(100)});
    registry->enter(id, at(110));
    tracing::emit_event(marker.callsite(), nullptr, {}, at(120));
    EXPECT_EQ(registry->current_span(), launch.id()) << "the thread is in another span than the track";
    registry->exit(id, at(190));
    registry->drop_reference(id, at(200));
  });
  lines.resize(5);
  EXPECT_EQ(lines, (Lines{"new launch/kernel on stream 7 at 100", "enter launch/kernel on stream 7 at 110",
                          "event launch/kernel on stream 7 at 120", "exit launch/kernel on stream 7 at 190",
                          "close launch/kernel on stream 7 at 200"}));
}

TEST(Registry, VisitsTheSpansOfAllTracks) {
  auto const registry = RegistryBuilder().build();
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      with_default(registry, [&] {
        TRACE_SPAN(info, "outer");
        TRACE_SPAN(info, "inner");
        ++ready;
        while (!stop) std::this_thread::yield();
      });
    });
  }
  while (ready < 3) std::this_thread::yield();
  Lines seen;
  registry->visit_all_tracks(
      [](void* lines, tracing::Track const&, std::int64_t os_thread, SpanRef span) {
        EXPECT_NE(os_thread, 0);
        static_cast<Lines*>(lines)->push_back(path_of(span));
      },
      &seen);
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen, (Lines{"outer", "outer/inner", "outer", "outer/inner", "outer", "outer/inner"}));
}

TEST(Registry, ExtensionsLiveAsLongAsTheSpan) {
  struct Marker {
    explicit Marker(int& n) : alive(n) { ++alive; }
    ~Marker() { --alive; }
    int& alive;
  };
  struct Adding final : tracing::Layer {
    explicit Adding(int& n) : alive(n) {}
    void on_new_span(SpanRef span, tracing::NewSpan const&, tracing::Context const&) noexcept override {
      span.extensions().get_or_add<Marker>(alive);
      span.extensions().get_or_add<Marker>(alive);
    }
    void on_close(SpanRef span, tracing::Context const&) noexcept override {
      EXPECT_NE(span.extensions().get<Marker>(), nullptr);
      EXPECT_EQ(span.extensions().get<int>(), nullptr);
    }
    int& alive;
  };
  int alive = 0;
  with_default(RegistryBuilder().with(std::make_unique<Adding>(alive)).build(), [&] {
    {
      TRACE_SPAN(info, "a");
      EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
  });
}

TEST(Registry, RuntimeCallsitesLiveAsLongAsTheirSpans) {
  auto const registry = RegistryBuilder().build();
  with_default(registry, [&] {
    tracing::Span span;
    {
      tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = "a name that is not short"});
      span = tracing::Span::make(callsite.callsite(), nullptr);
    }
    EXPECT_EQ(registry->span(span.id()).metadata().name(), "a name that is not short");
  });
}

TEST(RegistryBuilder, KeepsItsLayersWhenTheResultIsAssignedToItself) {
  Lines first, second;
  RegistryBuilder builder;
  builder = std::move(builder).with(std::make_unique<Journal>(first));
  builder = std::move(builder).with_filter(std::make_unique<NotNamed>("hidden"));
  builder.with(std::make_unique<Journal>(second));
  with_default(std::move(builder).build(), [] {
    TRACE_SPAN(info, "hidden");
    TRACE_INFO("event");
  });
  EXPECT_EQ(first, (Lines{"event "}));
  EXPECT_EQ(second, first);
}

TEST(Registry, OutdatedIdsReferToNoSpan) {
  auto const registry = RegistryBuilder().build();
  with_default(registry, [&] {
    tracing::SpanId const id = TRACE_MAKE_SPAN(info, "gone").id();
    EXPECT_FALSE(registry->span(id));
    auto const other = TRACE_MAKE_SPAN(info, "reuses the slot");
    EXPECT_FALSE(registry->span(id));
    registry->enter(id, {});
    registry->record(id, tracing::FieldValues(*other.metadata()));
    registry->drop_reference(id, {});
    EXPECT_EQ(registry->current_span(), tracing::SpanId{});
    EXPECT_FALSE(registry->span(tracing::SpanId{}));
    EXPECT_FALSE(registry->span(tracing::SpanId{~std::uint64_t{0}}));
    EXPECT_TRUE(registry->span(other.id()));
  });
}

}}  // namespace registry_test
