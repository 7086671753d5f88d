// NVTX ranges of CUB as spans, by TRACE_NVTX=in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "testlog/matchers.h"
#include "testlog/testlog.h"
#include "tracing_core/tracing.h"

extern "C" long sum_on_device(int const* numbers, int count);

namespace mylib {

long sum(std::vector<int> const& numbers) {
  TRACE_SPAN(info, "sum", tracing::kv("count", numbers.size()));
  return sum_on_device(numbers.data(), static_cast<int>(numbers.size()));
}

}  // namespace mylib

namespace {

using testing::AllOf;
using testing::Contains;
using testing::Gt;

TEST_LOG(CubRanges, AreSpansAroundTheLaunches) {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 1);
  EXPECT_EQ(mylib::sum(numbers), 500500);
  EXPECT_SPAN_COUNT("cub::DeviceReduce::Sum", 1);  // the call that asks for the size of the storage has none
  EXPECT_THAT(testlog::records(),
              Contains(AllOf(testlog::Span("cub::DeviceReduce::Sum"), testlog::HasTarget("nvtx::CCCL"))));
  EXPECT_THAT(testlog::records(),
              Contains(AllOf(testlog::Span("launch"), testlog::InSpan("cub::DeviceReduce::Sum"))).Times(Gt(0)));
}

}  // namespace
