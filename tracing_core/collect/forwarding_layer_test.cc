#include "tracing_core/collect/forwarding_layer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace {

// Appends a letter for each call.
class Recording final : public tracing::Layer {
 public:
  explicit Recording(std::string& calls) : calls_(calls) {}
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
  void flush() noexcept override { calls_ += 'f'; }

 private:
  std::string& calls_;
};

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

TEST(ForwardingLayer, AsksItsChildForHooks) {
  EXPECT_EQ(tracing::ForwardingLayer(std::make_unique<NoHooks>()).hooks(), tracing::Hooks::none);
}

}  // namespace
