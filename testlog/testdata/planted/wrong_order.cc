// Planted: two things happen in the wrong order. A message gets its number before the lock is taken under which it is
// sent.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Journal {
 public:
  void append(int worker) {
    TRACE_SPAN(debug, "append", worker);
    int const number = next_++;
    TRACE_TRACE("took a number", tracing::kv("number", number));
    std::lock_guard const lock(mutex_);
    TRACE_TRACE("written", tracing::kv("number", number));
    numbers_.push_back(number);
  }
  std::vector<int> numbers() const { return numbers_; }

 private:
  std::atomic<int> next_{0};
  std::mutex mutex_;
  std::vector<int> numbers_;
};

TEST(WrongOrder, Planted) {
  Journal journal;
  auto const work = [&journal](int worker) {
    for (int i = 0; i < 10; ++i) {
      make_noise();
      nap(500);
      journal.append(worker);
    }
  };
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
  std::vector<int> const numbers = journal.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<int>(i));
}

}}  // namespace planted
