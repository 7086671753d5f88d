#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/registry_test_support.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/tracing.h"

namespace {

using registry_test::Lines;
using registry_test::path_of;
using testing::ElementsAre;
using tracing::Context;
using tracing::Hooks;
using tracing::Metadata;
using tracing::RegistryBuilder;
using tracing::SpanRef;
using tracing::Track;
using tracing::Value;
using tracing::with_default;

// Notes its calls, such as "direct event" and "event".
class Direct final : public tracing::Layer {
 public:
  explicit Direct(Lines& lines, bool refuses = false) : lines_(lines), refuses_(refuses) {}
  Hooks hooks() const noexcept override { return Hooks::all | Hooks::scopes | Hooks::direct; }
  void on_event(tracing::Event const&, Context const&) noexcept override { lines_.push_back("event"); }
  void on_new_span(SpanRef, tracing::NewSpan const&, Context const&) noexcept override { lines_.push_back("new"); }
  void on_enter(SpanRef, Context const&) noexcept override { lines_.push_back("enter"); }
  void on_exit(SpanRef, Context const&) noexcept override { lines_.push_back("exit"); }
  void on_close(SpanRef, Context const&) noexcept override { lines_.push_back("close"); }
  void on_scope_begin(SpanRef span, Context const&) noexcept override { lines_.push_back("begin " + path_of(span)); }
  void on_scope_end(SpanRef span, Context const&) noexcept override { lines_.push_back("end " + path_of(span)); }
  bool try_event(Track const&, Metadata const&, Value const*, tracing::LayerMask) noexcept override {
    return add("event");
  }
  bool try_scope_begin(Track const&, SpanRef span, Value const*) noexcept override {
    return add("begin " + path_of(span));
  }
  bool try_scope_end(Track const&, SpanRef span) noexcept override { return add("end " + path_of(span)); }
  bool try_new_span(Track const&, SpanRef, tracing::NewSpan const&) noexcept override { return add("new"); }
  bool try_step(Track const&, SpanRef, Step step) noexcept override {
    return add(step == Step::enter ? "enter" : step == Step::exit ? "exit" : "close");
  }

 private:
  bool add(std::string const& line) {
    if (!refuses_) lines_.push_back("direct " + line);
    return !refuses_;
  }
  Lines& lines_;
  bool const refuses_;
};

void emit() {
  int const number = 1;
  TRACE_SPAN(info, "a", number);
  TRACE_SPAN(info, "b", tracing::kv("text", "no number"));
  TRACE_INFO("event", number);
}

void use_handle() {
  tracing::Span const span = TRACE_MAKE_SPAN(info, "handle");
  auto const entered = span.enter();
  TRACE_INFO("below", tracing::parent(span));
}

TEST(DirectRecords, GoToTheOnlyLayerThatWantsThem) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Direct>(lines)).build(), emit);
  EXPECT_THAT(lines,
              ElementsAre("direct begin a", "direct begin a/b", "direct event", "direct end a/b", "direct end a"));
}

TEST(DirectRecords, ComeWithAContextIfTheLayerRefusesThem) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Direct>(lines, true)).build(), emit);
  EXPECT_THAT(lines, ElementsAre("begin a", "begin a/b", "event", "end a/b", "end a"));
}

TEST(DirectRecords, ComeWithAContextIfAnotherLayerWantsThem) {
  Lines lines;
  Lines others;
  with_default(RegistryBuilder()
                   .with(std::make_unique<Direct>(lines))
                   .with(std::make_unique<registry_test::Journal>(others))
                   .build(),
               emit);
  EXPECT_THAT(lines, ElementsAre("begin a", "begin a/b", "event", "exit", "close", "exit", "close"));
  EXPECT_EQ(others.size(), 9u);
}

TEST(DirectRecords, AreOfHandlesButNotBelowThem) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Direct>(lines)).build(), use_handle);
  EXPECT_THAT(lines, ElementsAre("direct new", "direct enter", "event", "direct exit", "direct close"));
}

TEST(DirectRecords, ComeWithAContextForHandlesIfTheLayerRefusesThem) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Direct>(lines, true)).build(), use_handle);
  EXPECT_THAT(lines, ElementsAre("new", "enter", "event", "exit", "close"));
}

TEST(DirectRecords, ComeWithAContextForHandlesIfAnotherLayerWantsThem) {
  Lines lines;
  Lines others;
  with_default(RegistryBuilder()
                   .with(std::make_unique<Direct>(lines))
                   .with(std::make_unique<registry_test::Journal>(others))
                   .build(),
               use_handle);
  EXPECT_THAT(lines, ElementsAre("new", "enter", "event", "exit", "close"));
}

TEST(DirectRecords, ComeWithAContextOnAnotherTrackOrAtAnotherTime) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Direct>(lines)).build();
  with_default(registry, [&] {
    tracing::RuntimeCallsite const kernel({.kind = tracing::Kind::span, .name = "kernel"});
    Track const stream{1000001, "stream 7"};
    for (tracing::Origin const& origin : {tracing::Origin{&stream}, tracing::Origin{nullptr, tracing::Instant{100}}}) {
      tracing::SpanId const id = registry->new_span(
          {tracing::FieldValues(kernel.metadata()), {}, registry->enabled(kernel.metadata()), origin});
      registry->enter(id, origin);
      registry->exit(id, origin);
      registry->drop_reference(id, origin);
    }
  });
  EXPECT_THAT(lines, ElementsAre("new", "enter", "exit", "close", "new", "enter", "exit", "close"));
}

TEST(DirectRecords, EndAsHandlesDoIfSomebodyHoldsTheSpan) {
  Lines lines;
  tracing::Span held;
  with_default(RegistryBuilder().with(std::make_unique<Direct>(lines)).build(), [&] {
    TRACE_SPAN(info, "a");
    held = tracing::Span::current();
  });
  held = {};
  EXPECT_THAT(lines, ElementsAre("direct begin a", "direct exit", "direct close"));
}

// Wants events only, so that of spans only its filter hears.
class EventsOnly final : public tracing::Layer {
  Hooks hooks() const noexcept override { return Hooks::event; }
};

// Follows spans while `follows` is true.
class Switch final : public tracing::Filter {
 public:
  Switch(bool const& follows, int& open) : follows_(follows), open_(open) {}
  tracing::Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return metadata.is_span() ? tracing::Interest::always : tracing::Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override { return metadata.is_span(); }
  bool follows_spans() const noexcept override { return true; }
  bool follows_new_spans() const noexcept override { return follows_; }
  void on_new_span(tracing::NewSpan const&, std::uintptr_t& state) noexcept override { state = 1, ++open_; }
  void on_close(std::uintptr_t) noexcept override { --open_; }

 private:
  bool const& follows_;
  int& open_;
};

TEST(DirectRecords, AreOnlyThoseThatNoFilterFollows) {
  Lines lines;
  bool follows = false;
  int open = 0;
  auto const registry = RegistryBuilder()
                            .with(std::make_unique<Direct>(lines))
                            .with(std::make_unique<EventsOnly>(), std::make_unique<Switch>(follows, open))
                            .build();
  for (bool const now : {false, true, false}) {
    follows = now;
    tracing::rebuild_interest();
    lines.clear();
    with_default(registry, [&] {
      TRACE_SPAN(info, "a");
      EXPECT_EQ(open, now ? 1 : 0);
    });
    EXPECT_EQ(open, 0);
    EXPECT_THAT(lines,
                now ? Lines({"begin a", "direct exit", "direct close"}) : Lines({"direct begin a", "direct end a"}));
  }
}

}  // namespace
