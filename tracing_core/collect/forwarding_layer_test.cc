#include "tracing_core/collect/forwarding_layer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer_vector.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace {

// Appends a letter for each call.
class Recording final : public tracing::Layer {
 public:
  explicit Recording(std::string& calls, tracing::Hooks hooks = tracing::Hooks::all) : calls_(calls), hooks_(hooks) {}
  tracing::Hooks hooks() const noexcept override { return hooks_; }
  void on_new_span(tracing::SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override {
    calls_ += 'S';
  }
  void on_record(tracing::SpanRef, tracing::FieldValues const&, tracing::Context const&) noexcept override {
    calls_ += 'R';
  }
  void on_follows_from(tracing::SpanRef, tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'F'; }
  void on_event(tracing::Event const&, tracing::Context const&) noexcept override { calls_ += 'v'; }
  void on_enter(tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'E'; }
  void on_exit(tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'X'; }
  void on_close(tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'C'; }
  void on_timed(tracing::SpanRef, tracing::Timing const&, tracing::Context const&) noexcept override { calls_ += 'T'; }
  void on_scope_begin(tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'b'; }
  void on_scope_end(tracing::SpanRef, tracing::Context const&) noexcept override { calls_ += 'e'; }
  void flush() noexcept override { calls_ += 'f'; }

 private:
  std::string& calls_;
  tracing::Hooks const hooks_;
};

constexpr tracing::Hooks kScopes = tracing::Hooks::all | tracing::Hooks::scopes;

// Makes a span with an event; the registry then ends, and flushes.
void record_with(std::unique_ptr<tracing::Layer> layer) {
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), [] {
    TRACE_SPAN(info, "span");
    TRACE_INFO("event");
  });
}

class NoHooks final : public tracing::Layer {
 public:
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::none; }
};

TEST(ForwardingLayer, ForwardsEveryCall) {
  std::string calls;
  auto layer = std::make_unique<tracing::ForwardingLayer>(std::make_unique<Recording>(calls));
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  tracing::with_default(registry, [&] {
    tracing::Span const cause = TRACE_MAKE_SPAN(info, "cause");
    calls.clear();
    {
      auto const span = TRACE_MAKE_SPAN(info, "span", tracing::kv("n", tracing::empty)).enter();
      tracing::Span::current().record(tracing::kv("n", 1));
      tracing::Span::current().follows_from(cause);
      TRACE_INFO("event");
    }
    tracing::OpenSpan const timed = registry->open_scope(*cause.metadata(), ~tracing::LayerMask{0} >> 1, nullptr);
    registry->close_timed_scope(timed.id, tracing::Timing{});
    registry->flush();
    EXPECT_EQ(calls, "SERFvXCSETXCf");
  });
}

TEST(ForwardingLayer, ForwardsScopesToAChildThatTakesThemAsOneCall) {
  std::string calls;
  record_with(std::make_unique<tracing::ForwardingLayer>(std::make_unique<Recording>(calls, kScopes)));
  EXPECT_EQ(calls, "bvef");
}

TEST(ForwardingLayer, AsksItsChildForHooks) {
  EXPECT_EQ(tracing::ForwardingLayer(std::make_unique<NoHooks>()).hooks(), tracing::Hooks::none);
}

// Spans of one name go to the first layer, other spans to the second, and events to none.
class Routing final : public tracing::RoutingLayer<Routing> {
 public:
  Routing(std::string& first, std::string& second, tracing::Hooks hooks)
      : first_(first, hooks), second_(second, hooks), hooks_(hooks) {}
  tracing::Hooks hooks() const noexcept override { return hooks_; }
  tracing::Layer* layer_for(tracing::SpanRef span, bool) noexcept {
    return span.metadata().name() == "first" ? &first_ : &second_;
  }
  tracing::Layer* layer_for(tracing::Event const&, tracing::Context const&) noexcept { return nullptr; }

 private:
  Recording first_, second_;
  tracing::Hooks const hooks_;
};

TEST(RoutingLayer, PassesEachCallToTheLayerThatIsChosenForIt) {
  for (auto const& [hooks, expected] : {std::pair(tracing::Hooks::all, "SEXC"), std::pair(kScopes, "be")}) {
    std::string first, second;
    tracing::with_default(tracing::RegistryBuilder().with(std::make_unique<Routing>(first, second, hooks)).build(), [] {
      { TRACE_SPAN(info, "first"); }
      TRACE_SPAN(info, "second");
      TRACE_INFO("event");
    });
    EXPECT_EQ(first, expected);
    EXPECT_EQ(second, expected);
  }
}

TEST(LayerVector, CallsALayerThatTakesScopesBesideOneThatDoesNot) {
  std::string plain, scopes;
  std::vector<std::unique_ptr<tracing::Layer>> layers;
  layers.push_back(std::make_unique<Recording>(plain));
  layers.push_back(std::make_unique<Recording>(scopes, kScopes));
  record_with(std::make_unique<tracing::LayerVector>(std::move(layers)));
  EXPECT_EQ(plain, "SEvXCf");
  EXPECT_EQ(scopes, plain) << "it gets the four calls that a scope's two replace";
}

}  // namespace
