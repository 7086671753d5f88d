#include <catch2/catch_test_macros.hpp>

#include "testlog/records.h"
#include "tracing_core/tracing.h"

TEST_CASE("a test of Catch2 has its records, and a recording of its own") {
  TRACE_INFO("ready");
  CHECK(testlog::records().size() == 1);
}
