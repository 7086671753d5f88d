// Planted: work is done on the wrong thread. If the thread for it has nothing to do, the caller does the work itself.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

// Runs tasks on a thread of its own.
class Loop {
 public:
  void run() {
    TRACE_SPAN(debug, "loop");
    owner_.store(std::this_thread::get_id());
    while (!is_stopped_.load()) {
      is_idle_.store(true);
      TRACE_TRACE("idle");
      is_idle_.store(false);
      run_all();
      nap(200);
    }
    run_all();
  }
  void post(std::function<void()> const& task) {
    if (is_idle_.load()) {
      task();  // instead of waking the thread
      return;
    }
    std::lock_guard const lock(mutex_);
    tasks_.push_back(task);
  }
  void stop() { is_stopped_.store(true); }
  bool is_owner() const { return owner_.load() == std::this_thread::get_id(); }

 private:
  void run_all() {
    std::lock_guard const lock(mutex_);
    for (std::function<void()> const& task : tasks_) task();
    tasks_.clear();
  }

  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> is_idle_{false}, is_stopped_{false};
  std::atomic<std::thread::id> owner_{};
};

TEST(WrongThread, Planted) {
  Loop loop;
  std::atomic<int> elsewhere{0};
  std::thread thread([&loop] { loop.run(); });
  for (int i = 0; i < 8; ++i) {
    make_noise();
    nap(500);
    loop.post([&] {
      TRACE_SPAN(debug, "draw");
      elsewhere += loop.is_owner() ? 0 : 1;
    });
  }
  loop.stop();
  thread.join();
  ASSERT_EQ(elsewhere.load(), 0);
}

}}  // namespace planted
