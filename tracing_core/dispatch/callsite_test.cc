#include "tracing_core/dispatch/callsite.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/tracing.h"

namespace {

class Count final : public tracing::Layer {
 public:
  explicit Count(std::atomic<int>& count) : count_(count) {}
  void on_event(tracing::Event const&, tracing::Context const&) noexcept override { ++count_; }

 private:
  std::atomic<int>& count_;
};

// Keeps changing the cached answer: now one subscriber receives the records of all threads, now one thread is silent.
void count_while_changing_and_exit() {
  static std::atomic<int> count{0};
  tracing::set_global_default(tracing::RegistryBuilder().with(std::make_unique<Count>(count)).build());
  constexpr int kEvents = 300'000;
  std::atomic<bool> done{false};
  std::thread emitting([&done] {
    for (int i = 0; i < kEvents; ++i) TRACE_INFO("counted");
    done = true;
  });
  while (!done) tracing::ScopedDefault const scope(nullptr);
  emitting.join();
  std::_Exit(count == kEvents ? 0 : 1);
}

// The only layer's filter decides by the enclosing span.
void emit_in_a_dynamic_span_and_exit() {
  static std::atomic<int> count{0};
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(std::make_unique<Count>(count), tracing::to_filter(tracing::EnvFilter("[wanted]=debug")))
          .build());
  for (int i = 0; i < 2; ++i) {
    TRACE_DEBUG("outside");
    TRACE_SPAN(info, "wanted");
    TRACE_DEBUG("inside");
  }
  std::_Exit(count == 2 ? 0 : 1);
}

TEST(Callsite, QueriesTheOnlyLayerIfItIsUndecided) {
  EXPECT_EXIT(emit_in_a_dynamic_span_and_exit(), testing::ExitedWithCode(0), "");
}

TEST(Callsite, LosesNoRecordWhileOtherThreadsChangeTheirSubscriber) {
  EXPECT_EXIT(count_while_changing_and_exit(), testing::ExitedWithCode(0), "");
}

}  // namespace
