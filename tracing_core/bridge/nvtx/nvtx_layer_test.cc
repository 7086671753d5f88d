// What a tool of NVTX is told of our spans and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracing_core/bridge/nvtx.h"
#include "tracing_core/bridge/nvtx/testdata/fake_tool.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tracing_test::take_nvtx_calls;

// NVTX looks for a tool once, at its first call.
[[maybe_unused]] bool const is_set = setenv("NVTX_INJECTION64_PATH", FAKE_NVTX_TOOL, 1) == 0;

class NvtxLayer : public testing::Test {
 protected:
  NvtxLayer() { take_nvtx_calls(); }

  std::shared_ptr<tracing::Registry> const registry_ =
      tracing::RegistryBuilder().with(tracing::bridge::nvtx_layer()).build();
  tracing::ScopedDefault const default_{registry_};
};

TEST_F(NvtxLayer, MakesRangesOfSpansAndMarksOfEvents) {
  {
    TRACE_SPAN(info, "load", tracing::kv("layer", 3), tracing::target("mylib"));
    TRACE_SPAN(debug, "read", tracing::target("mylib::io"));
    TRACE_WARN("took {} ms", 7, tracing::kv("file", "a.bin"), tracing::target("mylib"));
  }
  EXPECT_THAT(take_nvtx_calls(),
              ElementsAre("push testlog: reg:load (mylib)", "push testlog: reg:read (mylib::io)",
                          "mark testlog: took 7 ms file=\"a.bin\" (mylib)", "pop testlog", "pop testlog"));
}

TEST_F(NvtxLayer, MakesARangeOfEachPeriodInASpan) {
  auto const span = TRACE_MAKE_SPAN(info, "request", tracing::target("mylib"));
  EXPECT_THAT(take_nvtx_calls(), IsEmpty());
  span.in_scope([] {});
  std::thread([&span] { span.in_scope([] {}); }).join();
  EXPECT_THAT(take_nvtx_calls(), ElementsAre("push testlog: reg:request (mylib)", "pop testlog",
                                             "push testlog: reg:request (mylib)", "pop testlog"));
}

TEST_F(NvtxLayer, EndsARangeWithTheRangesWithinItIfItsSpanIsLeftFirst) {
  auto outer = std::make_unique<tracing::EnteredSpan>(TRACE_MAKE_SPAN(info, "outer").entered());
  auto inner = std::make_unique<tracing::EnteredSpan>(TRACE_MAKE_SPAN(info, "inner").entered());
  take_nvtx_calls();
  outer.reset();
  EXPECT_THAT(take_nvtx_calls(), IsEmpty());
  inner.reset();
  EXPECT_THAT(take_nvtx_calls(), ElementsAre("pop testlog", "pop testlog"));
}

TEST_F(NvtxLayer, PassesNamesMadeAtRunTimeUnregistered) {
  tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = "step 17", .target = "mylib"});
  tracing::Span::make(callsite.callsite(), nullptr).in_scope([] {});
  EXPECT_THAT(take_nvtx_calls(), ElementsAre("push testlog: step 17", "pop testlog"));
}

TEST_F(NvtxLayer, CutsLongNames) {
  tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = std::string(1000, 'x')});
  tracing::Span::make(callsite.callsite(), nullptr).in_scope([] {});
  EXPECT_THAT(take_nvtx_calls(), ElementsAre("push testlog: " + std::string(255, 'x'), "pop testlog"));
}

TEST_F(NvtxLayer, LeavesOutRecordsWithATimeOfTheirOwn) {
  tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = "past"});
  tracing::Origin const earlier{.time = tracing::Instant{1}};
  tracing::Span const span = tracing::Span::make(callsite.callsite(), nullptr, {}, earlier);
  registry_->enter(span.id(), earlier);
  registry_->exit(span.id(), earlier);
  EXPECT_THAT(take_nvtx_calls(), IsEmpty());
}

TEST_F(NvtxLayer, RegistersACallsiteOnce) {
  std::size_t const before = tracing_test::count_registered_nvtx_strings();
  for (int i = 0; i < 3; ++i) {
    TRACE_SPAN(info, "again", tracing::target("mylib"));
  }
  EXPECT_EQ(tracing_test::count_registered_nvtx_strings(), before + 1);
}

TEST_F(NvtxLayer, MakesRangesOnSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      tracing::ScopedDefault const scope(registry_);
      for (int k = 0; k < 100; ++k) {
        TRACE_SPAN(info, "work");
        TRACE_INFO("step {}", k);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(take_nvtx_calls().size(), 4u * 100 * 3);
}

TEST(NvtxRange, SurroundsSpansByARegisteredName) {
  take_nvtx_calls();
  for (int i = 0; i < 2; ++i) tracing::bridge::NvtxRange const test("Pool.Grows");
  EXPECT_THAT(take_nvtx_calls(), ElementsAre("push testlog: reg:Pool.Grows", "pop testlog",
                                             "push testlog: reg:Pool.Grows", "pop testlog"));
}

TEST(NvtxRange, EndsAfterASpanThatIsLeftLater) {
  auto const registry = tracing::RegistryBuilder().with(tracing::bridge::nvtx_layer()).build();
  tracing::ScopedDefault const scope(registry);
  auto test = std::make_unique<tracing::bridge::NvtxRange>("Pool.Leaves");
  auto const span = std::make_unique<tracing::EnteredSpan>(TRACE_MAKE_SPAN(info, "left").entered());
  take_nvtx_calls();
  test.reset();
  EXPECT_THAT(take_nvtx_calls(), IsEmpty());
}

TEST(ReceiveNvtx, LeavesTheVariableOfATool) {
  EXPECT_EQ(tracing::bridge::receive_nvtx(),
            "NVTX_INJECTION64_PATH names another receiver, " FAKE_NVTX_TOOL ", which gets the ranges");
  EXPECT_STREQ(getenv("NVTX_INJECTION64_PATH"), FAKE_NVTX_TOOL);
}

}  // namespace
