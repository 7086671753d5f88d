// The spans of memory and copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tracing_core/cuda/driver_test_support.h"

namespace tracing::cuda_test {
namespace {

using ::testing::HasSubstr;

TEST(Driver, MeasuresACopyThatItWaitsFor) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] { driver.memcpy_htod(0x1000, "abcd", 4); }, SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("memcpy_htod{bytes=4 device=0 duration_us=<us> gb_per_s=<gb>}"));
}

}  // namespace
}  // namespace tracing::cuda_test
