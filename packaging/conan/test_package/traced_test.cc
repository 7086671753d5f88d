#include <testlog/records.h>
#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

TEST_LOG(Package, Records) {
  TRACE_SPAN(info, "request", tracing::kv("id", 9));
  TRACE_INFO("working");
  ASSERT_EQ(testlog::records().size(), 2u);  // none if the linker left testlog out
}
