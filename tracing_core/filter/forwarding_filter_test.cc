#include "tracing_core/filter/forwarding_filter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tracing_core/dispatch/runtime_callsite.h"

namespace {

using tracing::Interest;
using tracing::LevelFilter;
using tracing::PerfRole;

// Appends a letter for each call, and returns answers that differ from all defaults.
class Recording final : public tracing::Filter {
 public:
  explicit Recording(std::string& calls) : calls_(calls) {}
  Interest callsite_enabled(tracing::Metadata const&) noexcept override { return add('c'), Interest::never; }
  bool enabled(tracing::Metadata const&) noexcept override { return add('e'), false; }
  bool enabled_now(tracing::Metadata const&) noexcept override { return add('n'), true; }
  bool event_enabled(tracing::Event const&) noexcept override { return add('v'), false; }
  bool wants_events() const noexcept override { return add('w'), true; }
  LevelFilter max_level_hint() const noexcept override { return add('m'), LevelFilter::warn; }
  PerfRole perf_role() const noexcept override { return add('p'), PerfRole::layer; }
  bool decides_by_thread_level() noexcept override { return add('d'), true; }
  bool follows_spans() const noexcept override { return add('f'), true; }
  void on_new_span(tracing::NewSpan const&, std::uintptr_t& state) noexcept override { add('S'), state = 7; }
  void on_record(tracing::FieldValues const&, std::uintptr_t& state) noexcept override { add('R'), ++state; }
  void on_enter(std::uintptr_t state) noexcept override {
    if (state == 8) add('E');
  }
  void on_exit(std::uintptr_t state) noexcept override {
    if (state == 8) add('X');
  }
  void on_close(std::uintptr_t state) noexcept override {
    if (state == 8) add('C');
  }

 private:
  void add(char call) const { calls_ += call; }

  std::string& calls_;
};

TEST(ForwardingFilter, ForwardsEveryCall) {
  std::string calls;
  tracing::ForwardingFilter filter(std::make_shared<Recording>(calls));
  tracing::RuntimeCallsite const callsite({});
  tracing::Metadata const& metadata = callsite.metadata();
  tracing::FieldValues const values(metadata, nullptr);
  EXPECT_EQ(filter.callsite_enabled(metadata), Interest::never);
  EXPECT_FALSE(filter.enabled(metadata));
  EXPECT_TRUE(filter.enabled_now(metadata));
  EXPECT_FALSE(filter.event_enabled(tracing::Event{values}));
  EXPECT_TRUE(filter.wants_events());
  EXPECT_EQ(filter.max_level_hint(), LevelFilter::warn);
  EXPECT_EQ(filter.perf_role(), PerfRole::layer);
  EXPECT_TRUE(filter.decides_by_thread_level());
  EXPECT_TRUE(filter.follows_spans());
  std::uintptr_t state = 0;
  filter.on_new_span(tracing::NewSpan{values}, state);
  filter.on_record(values, state);
  filter.on_enter(state);
  filter.on_exit(state);
  filter.on_close(state);
  EXPECT_EQ(calls, "cenvwmpdfSREXC");
}

}  // namespace
