// Planted: a test leaves state to the next one. It does not wait for its thread, which may be about to change the
// state.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

std::atomic<int> level{0};

// Raises the level now and then until it is told to stop. Nobody waits for it.
void raise_until(std::shared_ptr<std::atomic<bool>> const& stopped) {
  while (true) {
    nap(100);
    make_noise();
    if (stopped->load()) return;
    TRACE_TRACE("raises the level", tracing::kv("from", level.load()));
    level.fetch_add(1);
  }
}

class LeftState : public testing::TestWithParam<int> {};

TEST_P(LeftState, Raises) {
  auto const stopped = std::make_shared<std::atomic<bool>>(false);
  level.store(0);
  std::thread([stopped] { raise_until(stopped); }).detach();
  nap(1000);
  stopped->store(true);
  level.store(0);
  TRACE_DEBUG("reset");
}

TEST_P(LeftState, BeginsAtZero) {
  TRACE_SPAN(debug, "look");
  nap(300);
  int const found = level.load();
  TRACE_DEBUG("looked", tracing::kv("level", found));
  ASSERT_EQ(found, 0);
}

INSTANTIATE_TEST_SUITE_P(Planted, LeftState, testing::Range(0, 8));

}}  // namespace planted
