// Planted: a time-out is too short. If the server is busy, it tries again later than the caller waits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

using namespace std::chrono_literals;

class Server {
 public:
  void answer() {
    TRACE_SPAN(debug, "answer");
    while (is_busy_.exchange(true)) {
      TRACE_TRACE("busy, so tries again");
      std::this_thread::sleep_for(300ms);
    }
    TRACE_TRACE("works");
    is_busy_.store(false);
  }

 private:
  std::atomic<bool> is_busy_{false};
};

TEST(TimeOut, Planted) {
  Server server;
  auto const ask = [&server] {
    make_noise();
    nap(500);
    server.answer();
  };
  std::future<void> const first = std::async(std::launch::async, ask), second = std::async(std::launch::async, ask);
  bool const in_time =
      first.wait_for(100ms) == std::future_status::ready && second.wait_for(100ms) == std::future_status::ready;
  TRACE_DEBUG("waited", in_time);
  ASSERT_TRUE(in_time);
}

}}  // namespace planted
