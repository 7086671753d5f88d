// A tiny test, many times: a span with five events, or nothing in a program without testlog.
#include <gtest/gtest.h>

#ifdef MANY_TESTS_PLAIN
#define TRACE_SPAN(...) (void)0
#define TRACE_DEBUG(...) (void)0
#else
#include "tracing_core/tracing.h"
#endif

namespace {

class Tiny : public testing::TestWithParam<int> {};

TEST_P(Tiny, Passes) {
  int const number = GetParam();
  TRACE_SPAN(info, "work", number);
  for (int step = 0; step < 5; ++step) TRACE_DEBUG("step", step, number);
  EXPECT_GE(number, 0);
}
INSTANTIATE_TEST_SUITE_P(Many, Tiny, testing::Range(0, 100));

}  // namespace
