// Planted: a wake-up is missed. The consumer looks whether something is ready before it takes the lock, so it may be
// told between the look and the wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Mailbox {
 public:
  void put(int item) {
    item_.store(item);
    TRACE_DEBUG("put", tracing::kv("item", item));
    wake_.notify_one();
  }
  // Returns 0 if nobody told in time.
  int take() {
    TRACE_SPAN(debug, "take");
    if (item_.load() == 0) {
      TRACE_TRACE("empty, so waits");
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::chrono::milliseconds(100)) == std::cv_status::timeout) return 0;
    }
    return item_.exchange(0);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> item_{0};
};

TEST(MissedWakeUp, Planted) {
  constexpr int kItems = 8;
  for (int i = 1; i <= kItems; ++i) {
    Mailbox mailbox;
    std::thread producer([&mailbox, i] {
      make_noise();
      nap(500);
      mailbox.put(i);
    });
    nap(500);
    int const item = mailbox.take();
    producer.join();
    if (item != i) TRACE_WARN("nobody told in time", tracing::kv("item", i));
    ASSERT_EQ(item, i);
  }
}

}}  // namespace planted
