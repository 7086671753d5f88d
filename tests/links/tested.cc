// A failing test, whose output listeners.cc checks.
#include <gtest/gtest.h>
#include <testlog/records.h>
#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

#include "helper.h"

TEST_LOG(Tested, Fails, .fail_on = error) {
  TRACE_SPAN(info, "outermost");
  helper();
  EXPECT_EQ(testlog::records().size(), 4u);  // fails: the test has three records
  TRACE_ERROR("not tolerated");
}
