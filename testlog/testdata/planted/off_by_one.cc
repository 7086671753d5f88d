// Planted: one more than allowed. Two threads see that one place is left, and both take it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Pool {
 public:
  static constexpr int kPlaces = 1;

  bool take() {
    TRACE_SPAN(debug, "take");
    if (used_.load() >= kPlaces) return false;
    TRACE_TRACE("a place is left");
    int const used = used_.fetch_add(1) + 1;
    TRACE_TRACE("took a place", used);
    if (used > kPlaces) is_overfull_.store(true);
    return true;
  }
  void give_back() { used_.fetch_sub(1); }
  bool is_overfull() const { return is_overfull_.load(); }

 private:
  std::atomic<int> used_{0};
  std::atomic<bool> is_overfull_{false};
};

TEST(OffByOne, Planted) {
  Pool pool;
  auto const work = [&pool](int worker) {
    TRACE_SPAN(debug, "worker", worker);
    for (int i = 0; i < 8; ++i) {
      make_noise();
      nap(500);
      if (pool.take()) pool.give_back();
    }
  };
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 3; ++worker) workers.emplace_back(work, worker);
  for (std::thread& worker : workers) worker.join();
  ASSERT_FALSE(pool.is_overfull());
}

}}  // namespace planted
