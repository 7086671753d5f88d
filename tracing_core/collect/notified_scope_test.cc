#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::Context;
using tracing::Hooks;
using tracing::RegistryBuilder;
using tracing::SpanRef;
using tracing::with_default;
using Lines = std::vector<std::string>;

std::string name_of(SpanRef span) { return span ? std::string(span.metadata().name()) : "nothing"; }

// Wants enters and exits only, as layers that write traces do, and adds lines like "exit b in a".
class Watch final : public tracing::Layer {
 public:
  using OnExit = std::function<void(SpanRef, Context const&)>;

  explicit Watch(Lines& lines, OnExit on_exit = {}) : lines_(lines), on_exit_(std::move(on_exit)) {}
  Hooks hooks() const noexcept override { return Hooks::enter | Hooks::exit; }
  void on_enter(SpanRef span, Context const& context) noexcept override { add("enter ", span, context); }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    add("exit ", span, context);
    if (on_exit_) on_exit_(span, context);
  }

 private:
  void add(char const* what, SpanRef span, Context const& context) {
    lines_.push_back(what + name_of(span) + " in " + name_of(context.current_span()));
  }
  Lines& lines_;
  OnExit on_exit_;
};

struct Marker {
  explicit Marker(int& n) : alive(n) { ++alive; }
  ~Marker() { --alive; }
  int& alive;
};

TEST(NotifiedScope, IsTheCurrentSpanBetweenEnterAndExit) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Watch>(lines)).build(), [] {
    for (int i = 0; i < 2; ++i) {
      TRACE_SPAN(info, "a", i);
      TRACE_SPAN(info, "b", tracing::kv("text", "not a number"));
    }
  });
  Lines const once = {"enter a in a", "enter b in b", "exit b in a", "exit a in nothing"};
  Lines twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(lines, twice);
}

TEST(NotifiedScope, ClearsExtensionsThatALayerAddsOnExit) {
  Lines lines;
  int alive = 0;
  auto const add_extension = [&](SpanRef span, Context const&) { span.extensions().get_or_add<Marker>(alive); };
  with_default(RegistryBuilder().with(std::make_unique<Watch>(lines, add_extension)).build(), [&] {
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "a", i);
      EXPECT_EQ(alive, 0);
    }
  });
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(lines.size(), 6U);
}

TEST(NotifiedScope, StaysOpenIfALayerTakesAReferenceOnExit) {
  Lines lines;
  std::vector<tracing::SpanId> held;
  auto const hold = [&](SpanRef span, Context const& context) {
    context.registry().add_reference(span.id());
    held.push_back(span.id());
  };
  auto const registry = RegistryBuilder().with(std::make_unique<Watch>(lines, hold)).build();
  with_default(registry, [&] {
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "a", i);
    }
  });
  ASSERT_EQ(held.size(), 3U);
  for (tracing::SpanId const id : held) {
    EXPECT_EQ(name_of(registry->span(id)), "a");
    registry->drop_reference(id, {});
    EXPECT_FALSE(registry->span(id));
  }
}

TEST(NotifiedScope, StaysOpenIfTheProgramHoldsIt) {
  Lines lines;
  auto const registry = RegistryBuilder().with(std::make_unique<Watch>(lines)).build();
  with_default(registry, [&] {
    tracing::Span held;
    {
      TRACE_SPAN(info, "a");
      held = tracing::Span::current();
    }
    EXPECT_EQ(name_of(registry->span(held.id())), "a");
    tracing::SpanId const id = held.id();
    held = {};
    EXPECT_FALSE(registry->span(id));
  });
  EXPECT_EQ(lines, (Lines{"enter a in a", "exit a in nothing"}));
}

TEST(NotifiedScope, MayEndBeforeTheScopeWithinIt) {
  Lines lines;
  with_default(RegistryBuilder().with(std::make_unique<Watch>(lines)).build(), [] {
    auto outer = std::make_unique<tracing::EnteredSpan>(TRACE_MAKE_SPAN(info, "outer").enter());
    TRACE_SPAN(info, "inner");
    outer.reset();
  });
  EXPECT_EQ(lines,
            (Lines{"enter outer in outer", "enter inner in inner", "exit outer in inner", "exit inner in nothing"}));
}

TEST(NotifiedScope, DestroysARegistryWithoutOwner) {
  Lines lines;
  bool destroyed = false;
  auto last = std::shared_ptr<void>(nullptr, [&](void*) { destroyed = true; });
  auto registry = RegistryBuilder()
                      .with(std::make_unique<Watch>(lines, [last = std::move(last)](SpanRef, Context const&) {}))
                      .build();
  auto scoped = std::make_unique<tracing::ScopedDefault>(std::move(registry));
  {
    TRACE_SPAN(info, "a");
    scoped.reset();
    EXPECT_FALSE(destroyed);
  }
  EXPECT_EQ(lines, (Lines{"enter a in a", "exit a in nothing"}));
  EXPECT_TRUE(destroyed);
}

}  // namespace
