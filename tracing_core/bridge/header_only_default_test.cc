// The default logger of a program with spdlog as headers only that says nothing before its bridge is installed: the cell
// HeaderOnlySpdlog.Default of the table in docs/spdlog.md. On its own, with few calls of spdlog: the compiler inlines
// registry::instance() then, and nobody else can call it.
#include <gtest/gtest.h>

#include "tracing_core/bridge/spdlog_test_support.h"

#ifndef SPDLOG_HEADER_ONLY
#error "this is to be compiled with spdlog as headers only"
#endif

namespace {

TEST(HeaderOnlySpdlog, Default) {
  tracing_test::Bridged bridged;
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  spdlog::info("hello {}", 1);
  spdlog::debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer{id=7}: spdlog: hello 1\nDEBUG outer{id=7}: spdlog: below its level\n");
}

}  // namespace
