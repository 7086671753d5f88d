#include "tracing_core/collect/reload.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::Reloaded;

// Lets records up to a level pass; counts the filters that exist and the spans that they follow.
class LevelOnly final : public tracing::Filter {
 public:
  explicit LevelOnly(tracing::LevelFilter max_level, std::atomic<int>* alive = nullptr, bool follows = false)
      : max_level_(max_level), alive_(alive), follows_(follows) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~LevelOnly() override {
    if (alive_ != nullptr) --*alive_;
    max_level_ = tracing::LevelFilter::off;
  }
  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override {
    if (follows_) return tracing::Interest::sometimes;
    return enabled(metadata) ? tracing::Interest::always : tracing::Interest::never;
  }
  bool enabled(tracing::Metadata const& metadata) noexcept override { return metadata.level() <= max_level_; }
  tracing::LevelFilter max_level_hint() const noexcept override { return max_level_; }
  bool follows_spans() const noexcept override { return follows_; }
  void on_new_span(tracing::NewSpan const&, std::uintptr_t& state) noexcept override { state = 7, ++open; }
  void on_enter(std::uintptr_t state) noexcept override {
    EXPECT_EQ(state, 7U);
    ++entered;
  }
  void on_close(std::uintptr_t state) noexcept override {
    EXPECT_EQ(state, 7U);
    --open;
  }

  static inline std::atomic<int> open{0};
  static inline std::atomic<int> entered{0};

 private:
  tracing::LevelFilter max_level_;
  std::atomic<int>* alive_;
  bool follows_;
};

class CountEvents final : public tracing::Layer {
 public:
  explicit CountEvents(std::atomic<int>& count) : count_(count) {}
  void on_event(tracing::Event const&, tracing::Context const&) noexcept override { ++count_; }

 private:
  std::atomic<int>& count_;
};

std::unique_ptr<tracing::Filter> level(tracing::LevelFilter max_level, std::atomic<int>* alive = nullptr,
                                       bool follows = false) {
  return std::make_unique<LevelOnly>(max_level, alive, follows);
}

void emit_both() {
  TRACE_INFO("info");
  TRACE_DEBUG("debug");
}

TEST(Reload, ReplacesAFilter) {
  std::atomic<int> count{0};
  std::atomic<int> alive{0};
  auto [filter, handle] = tracing::reloadable(level(tracing::LevelFilter::info, &alive));
  auto registry = tracing::RegistryBuilder().with(std::make_unique<CountEvents>(count), std::move(filter)).build();
  tracing::with_default(registry, emit_both);
  EXPECT_EQ(count.exchange(0), 1);
  EXPECT_EQ(handle.reload(level(tracing::LevelFilter::debug, &alive)), Reloaded::done);
  tracing::with_default(registry, emit_both);
  EXPECT_EQ(count.exchange(0), 2);
  EXPECT_EQ(handle.reload(level(tracing::LevelFilter::off, &alive)), Reloaded::done);
  tracing::with_default(registry, emit_both);
  EXPECT_EQ(count.exchange(0), 0);
  EXPECT_EQ(handle.reload(nullptr), Reloaded::done);
  tracing::with_default(registry, emit_both);
  EXPECT_EQ(count.exchange(0), 2);
  EXPECT_EQ(alive, 3) << "replaced filters are kept until the registry ends";
  registry.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(handle.reload(nullptr), Reloaded::gone);
}

TEST(Reload, ModifyGetsTheCurrentFilter) {
  std::atomic<int> count{0};
  auto [filter, handle] = tracing::reloadable(level(tracing::LevelFilter::info));
  auto const registry =
      tracing::RegistryBuilder().with(std::make_unique<CountEvents>(count), std::move(filter)).build();
  auto const one_more = [](tracing::Filter const* current) {
    return level(current->max_level_hint() == tracing::LevelFilter::info ? tracing::LevelFilter::debug
                                                                         : tracing::LevelFilter::off);
  };
  EXPECT_EQ(handle.modify(one_more), Reloaded::done);
  tracing::with_default(registry, emit_both);
  EXPECT_EQ(count, 2);
}

TEST(Reload, ReplacesALayer) {
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  auto [layer, handle] = tracing::reloadable(std::unique_ptr<tracing::Layer>(new CountEvents(first)));
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  tracing::with_default(registry, [&, reload = handle]() mutable {
    TRACE_INFO("to the first");
    EXPECT_EQ(reload.reload(std::make_unique<CountEvents>(second)), Reloaded::done);
    TRACE_INFO("to the second");
    TRACE_INFO("again");
    EXPECT_EQ(reload.reload(nullptr), Reloaded::done);
    TRACE_INFO("dropped");
  });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST(Reload, OpenSpansStayWithTheFilterTheyWereCreatedUnder) {
  std::atomic<int> count{0};
  auto [filter, handle] = tracing::reloadable(level(tracing::LevelFilter::info, nullptr, true));
  auto const registry =
      tracing::RegistryBuilder().with(std::make_unique<CountEvents>(count), std::move(filter)).build();
  tracing::with_default(registry, [&, reload = handle]() mutable {
    auto span = TRACE_MAKE_SPAN(info, "open");
    EXPECT_EQ(LevelOnly::open, 1);
    EXPECT_EQ(reload.reload(level(tracing::LevelFilter::debug)), Reloaded::done);
    LevelOnly::entered = 0;
    span.in_scope([] {});
    EXPECT_EQ(LevelOnly::entered, 1);
    span = {};
    EXPECT_EQ(LevelOnly::open, 0);
  });
}

TEST(Reload, IsRefusedInsideALayer) {
  struct Reloading final : tracing::Layer {
    std::unique_ptr<tracing::ReloadHandle<tracing::Filter>> handle;
    Reloaded* result;
    void on_event(tracing::Event const&, tracing::Context const&) noexcept override {
      *result = handle->reload(nullptr);
    }
  };
  Reloaded result = Reloaded::done;
  auto [filter, handle] = tracing::reloadable(level(tracing::LevelFilter::info));
  auto layer = std::make_unique<Reloading>();
  layer->handle = std::make_unique<tracing::ReloadHandle<tracing::Filter>>(handle);
  layer->result = &result;
  auto const registry = tracing::RegistryBuilder().with(std::move(layer), std::move(filter)).build();
  tracing::with_default(registry, [] { TRACE_INFO("reload"); });
  EXPECT_EQ(result, Reloaded::in_subscriber);
}

TEST(Reload, IsSafeWhileOtherThreadsEmit) {
  std::atomic<int> count{0};
  std::atomic<int> alive{0};
  std::atomic<bool> stop{false};
  auto [filter, handle] = tracing::reloadable(level(tracing::LevelFilter::info, &alive));
  auto registry = tracing::RegistryBuilder().with(std::make_unique<CountEvents>(count), std::move(filter)).build();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      tracing::with_default(registry, [&] {
        while (!stop) {
          TRACE_SPAN(info, "work");
          emit_both();
        }
      });
    });
  }
  for (int i = 0; i < 50 || count < 1000; ++i) {
    EXPECT_EQ(
        handle.reload(level(i % 2 == 0 ? tracing::LevelFilter::debug : tracing::LevelFilter::info, &alive, i % 3 == 0)),
        Reloaded::done);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GT(count, 0);
  registry.reset();
  EXPECT_EQ(alive, 0);
}

}  // namespace
