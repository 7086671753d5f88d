// Tests in which AddressSanitizer and UndefinedBehaviorSanitizer find something; compiled with both.
#include <gtest/gtest.h>
#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

#include <climits>

namespace {

TEST(Sanitized, UsesFreedMemory) {
  TRACE_SPAN(info, "load", tracing::kv("id", 7));
  TRACE_DEBUG("not shown");
  char* volatile bytes = new char[8]();
  delete[] bytes;
  EXPECT_EQ(bytes[1], 0);
}
TEST(Sanitized, Overflows) {
  TRACE_SPAN(info, "add");
  int volatile number = INT_MAX;
  for (int i = 0; i < 2; ++i) number = number + 1;
}

}  // namespace
