// Planted: two things happen in the wrong order. A job is announced before its input is stored.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Jobs {
 public:
  static constexpr int kCount = 8;

  void submit(int job) {
    TRACE_SPAN(debug, "submit");
    announced_.store(job);
    TRACE_TRACE("announced");
    inputs_[static_cast<std::size_t>(job)].store(job * job);
    TRACE_TRACE("stored", job);
  }
  // Waits for the job. Returns its input.
  int take(int job) {
    TRACE_SPAN(debug, "take");
    while (announced_.load() < job) nap(2000);
    int const input = inputs_[static_cast<std::size_t>(job)].load();
    TRACE_TRACE("loaded", job);
    return input;
  }

 private:
  std::array<std::atomic<int>, kCount + 1> inputs_{};
  std::atomic<int> announced_{0};
};

TEST(WrongOrder, Planted) {
  Jobs jobs;
  std::atomic<int> wrong{0};
  std::thread worker([&] {
    for (int job = 1; job <= Jobs::kCount; ++job) {
      make_noise();
      if (jobs.take(job) != job * job) ++wrong;
    }
  });
  for (int job = 1; job <= Jobs::kCount; ++job) {
    make_noise();
    nap(2000);
    jobs.submit(job);
  }
  worker.join();
  ASSERT_EQ(wrong.load(), 0);
}

}}  // namespace planted
