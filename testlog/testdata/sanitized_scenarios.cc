// Tests in which AddressSanitizer and UndefinedBehaviorSanitizer find something; compiled with both.
#include <gtest/gtest.h>
#include <testlog/testlog.h>

#include <climits>
#include <cstdlib>

namespace {

TEST(Sanitized, UsesFreedMemory) {
  TRACE_SPAN(info, "load", tracing::kv("id", 7));
  TRACE_DEBUG("not shown");
  auto* const bytes = static_cast<char volatile*>(std::malloc(8));
  std::free(const_cast<char*>(bytes));
  EXPECT_EQ(bytes[1], 0);
}
TEST(Sanitized, Overflows) {
  TRACE_SPAN(info, "add");
  int volatile number = INT_MAX;
  for (int i = 0; i < 2; ++i) number = number + 1;
}

}  // namespace
