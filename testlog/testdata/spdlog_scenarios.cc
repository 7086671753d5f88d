// Tests of code that logs with spdlog and knows nothing of testlog. spdlog_test.cc runs them.
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/testlog.h>
#include <tracing_core/bridge/span_path_flag.h>
#include <tracing_core/bridge/spdlog.h>  // as headers only, spdlog has a registry here that is made known by this
#include <tracing_core/tracing.h>

namespace {

using testing::Contains;
using testing::HasSubstr;

std::shared_ptr<spdlog::logger> const made_early = spdlog::stdout_color_mt("early");

TEST(Spdlog, Logs) {
  TRACE_SPAN(info, "job", tracing::kv("id", 7));
  spdlog::info("by default");
  spdlog::debug("in detail");
  SPDLOG_LOGGER_WARN(made_early, "by name");
}
// In this order, in one process.
TEST(SpdlogLogger, IsRegisteredByOneTest) {
  spdlog::create<spdlog::sinks::null_sink_mt>("made_in_a_test")->info("in the first");
}
TEST(SpdlogLogger, IsAttachedInTheNext) {
  auto const logger = spdlog::get("made_in_a_test");
  ASSERT_NE(logger, nullptr) << "the test before makes it";
  logger->info("in the next");
  spdlog::drop("made_in_a_test");
}
TEST(Spdlog, PrintsTheSpansOfASecret) {
  std::ostringstream text;
  auto const logger = std::make_shared<spdlog::logger>("mine", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  logger->set_formatter(tracing::bridge::span_path_formatter("[%l] %*: %v"));
  TRACE_SPAN(info, "login", tracing::kv("token", "canary"));
  logger->info("with a password");
  std::fputs(text.str().c_str(), stdout);
}
TEST(Spdlog, Fails) {
  spdlog::error("the reason");
  ADD_FAILURE();
}
TEST(Spdlog, IsRecorded) {
  spdlog::info("by default");
  EXPECT_THAT(testlog::records(),
              Contains(testlog::Event(testlog::HasLevel(tracing::Level::info), testlog::HasTarget("spdlog"),
                                      testlog::HasMessage("by default"))));
}
TEST(Spdlog, IsRecordedInItsSpan) {
  TRACE_SPAN(info, "around", tracing::kv("id", 7));
  spdlog::info("inside");
  EXPECT_THAT(testlog::records(), Contains(testlog::Event(testlog::HasMessage("inside"),
                                                          testlog::InSpan("around", testlog::HasField("id", 7)))));
}
TEST(Spdlog, IsCapturedByTheTest) {
  testing::internal::CaptureStdout();
  spdlog::info("by default");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("[info] by default\n"));
}

[[noreturn]] void log_and_abort() {
  spdlog::stderr_color_mt("dying")->critical("the end");
  std::abort();
}
TEST(SpdlogDeathTest, PrintsInFastDeathTests) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(log_and_abort(), "the end");
}
TEST(SpdlogDeathTest, PrintsInThreadsafeDeathTests) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(log_and_abort(), "the end");
}

}  // namespace

int main(int argc, char** argv) {
  bool const logs = argc > 1 && argv[1] == std::string_view("--log-in-main");
  if (logs) spdlog::info("before the tests");
  testing::InitGoogleTest(&argc, argv);
  int const result = RUN_ALL_TESTS();
  if (logs) spdlog::info("after the tests");
  return result;
}
