#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "testlog/records.h"
#include "tracing_core/tracing.h"

TEST_CASE("a test of doctest has its records, and a recording of its own") {
  TRACE_INFO("ready");
  CHECK(testlog::records().size() == 1);
}
