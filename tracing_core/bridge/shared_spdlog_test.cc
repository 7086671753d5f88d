// The bridge with spdlog's shared library. The suite SharedSpdlog is the row of the table in docs/spdlog.md, a test to a cell.
#include <gtest/gtest.h>

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/null_sink.h>

#include <string>
#include <thread>

#include "tracing_core/bridge/spdlog_test_support.h"

namespace {

using tracing_test::Bridged;
using tracing_test::Kept;
using tracing_test::make_logger;
using tracing_test::Registered;

// ---- the table ----

TEST(SharedSpdlog, Default) {
  Bridged bridged;
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  spdlog::info("hello {}", 1);
  spdlog::debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer{id=7}: spdlog: hello 1\nDEBUG outer{id=7}: spdlog: below its level\n");
}

TEST(SharedSpdlog, Named) {
  Registered const logger(spdlog::null_logger_mt("net"));
  Bridged bridged;
  TRACE_SPAN(info, "outer");
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: net: hello\nDEBUG outer: net: below its level\n");
}

TEST(SharedSpdlog, Later) {
  Bridged bridged;
  Registered const logger(spdlog::null_logger_mt("later"));
  TRACE_SPAN(info, "outer");
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: later: hello\nDEBUG outer: later: below its level\n");
}

TEST(SharedSpdlog, Unregistered) {
  Bridged bridged;
  Kept kept;
  auto const logger = make_logger("private", kept);
  TRACE_SPAN(info, "outer");
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: private: hello\n");
  EXPECT_TRUE(tracing::bridge::attach(logger));
  logger->debug("from now on");
  EXPECT_EQ(bridged.take(), "DEBUG outer: private: from now on\n");
  EXPECT_EQ(kept.take(), "info hello\n");
}

TEST(SharedSpdlog, Async) {
  Bridged bridged;
  Registered const logger(spdlog::create_async<spdlog::sinks::null_sink_mt>("queued"));
  TRACE_SPAN(info, "outer");
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: queued: hello\nDEBUG outer: queued: below its level\n");
  spdlog::init_thread_pool(1, 1);
}

}  // namespace
