#include "testlog/internal/throw_periods.h"

#include <gtest/gtest.h>

#include <exception>
#include <thread>
#include <vector>

namespace {

using testlog::internal::begin_throw_period;
using testlog::internal::throw_period_of_handled;

std::exception_ptr thrown() {
  try {
    throw 1;
  } catch (int) {
    return std::current_exception();
  }
}

std::uint64_t period_of(std::exception_ptr const& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (int) {
    return throw_period_of_handled();
  }
}

TEST(ThrowPeriods, AnExceptionBelongsToThePeriodInWhichItWasThrown) {
  std::exception_ptr const before = thrown();
  std::uint64_t const first = begin_throw_period();
  std::exception_ptr const in_first = thrown();
  std::uint64_t const second = begin_throw_period();
  std::exception_ptr const in_second = thrown();
  EXPECT_LT(period_of(before), first);
  EXPECT_EQ(period_of(in_first), first);
  EXPECT_EQ(period_of(in_second), second);
  EXPECT_EQ(throw_period_of_handled(), 0u) << "nothing is handled";
}

TEST(ThrowPeriods, AreToldApartUntil64HaveBegun) {
  std::uint64_t const first = begin_throw_period();
  std::exception_ptr const exception = thrown();
  for (int i = 1; i < 64; ++i) begin_throw_period();
  EXPECT_EQ(period_of(exception), first);
}

TEST(ThrowPeriods, OfThreadsThatBeginThemAtOnceAreInOrder) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n) {
        std::uint64_t const begun = begin_throw_period();
        std::exception_ptr const exception = thrown();
        if (begin_throw_period() - begun < 32) {
          EXPECT_GE(period_of(exception), begun);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
