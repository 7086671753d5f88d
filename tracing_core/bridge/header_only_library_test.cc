// A program with the shared spdlog that uses a library with spdlog as headers only.
#include <gtest/gtest.h>

#include "tracing_core/bridge/spdlog_test_support.h"
#include "tracing_core/bridge/testdata/header_only_library.h"

namespace {

using tracing_test::Bridged;

TEST(HeaderOnlyLibrary, IsHeardWhereItsSymbolsAreVisible) {
  visible_library::log_by_default("before"), visible_library::log_by_name("before");
  Bridged bridged;
  TRACE_SPAN(info, "outer");
  visible_library::log_by_default("x");
  EXPECT_EQ(bridged.take(), " INFO outer: spdlog: x\nDEBUG outer: spdlog: x\n");
  visible_library::log_by_name("y");
  EXPECT_EQ(bridged.take(), " INFO outer: library: y\nDEBUG outer: library: y\n");
}

TEST(HeaderOnlyLibrary, IsHeardWhereItAttachesItsLoggersItself) {
  Bridged bridged;
  TRACE_SPAN(info, "outer");
  hidden_library::log_by_default("x"), hidden_library::log_by_name("x");
  EXPECT_EQ(bridged.take(), "");
  EXPECT_TRUE(hidden_library::attach());
  hidden_library::log_by_name("y");
  EXPECT_EQ(bridged.take(), " INFO outer: library: y\nDEBUG outer: library: y\n");
}

}  // namespace
