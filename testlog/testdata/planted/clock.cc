// Planted: a duration is measured by a clock that another thread sets back.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Clock {
 public:
  std::int64_t now_us() const {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count() + offset_us_.load();
  }
  void set_back() {
    TRACE_SPAN(debug, "set the clock");
    offset_us_.fetch_sub(60'000'000);
  }

 private:
  std::atomic<std::int64_t> offset_us_{0};
};

TEST(Clock, Planted) {
  Clock clock;
  for (int i = 0; i < 8; ++i) {
    std::thread setter([&clock] {
      make_noise();
      nap(500);
      clock.set_back();
    });
    nap(500);
    std::int64_t const began = clock.now_us();
    TRACE_TRACE("began");
    std::int64_t const took_us = clock.now_us() - began;
    TRACE_DEBUG("measured", took_us);
    setter.join();
    ASSERT_GE(took_us, 0);
  }
}

}}  // namespace planted
