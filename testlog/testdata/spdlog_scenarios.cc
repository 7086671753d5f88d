// Tests of code that logs with spdlog and knows nothing of testlog. spdlog_test.cc runs them.
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/testlog.h>
#include <tracing_core/bridge/span_path_flag.h>
#include <tracing_core/tracing.h>

namespace {

using testing::Contains;
using testing::HasSubstr;

std::shared_ptr<spdlog::logger> const made_early = spdlog::stdout_color_mt("early");

TEST(Spdlog, Speaks) {
  TRACE_SPAN(info, "job", tracing::kv("id", 7));
  spdlog::info("by default");
  spdlog::debug("in detail");
  made_early->warn("by name");
}
TEST(Spdlog, SaysWhere) {
  std::printf("said in line %d\n", __LINE__ + 1);
  SPDLOG_LOGGER_INFO(made_early, "from here");
}
// In this order, in one process.
TEST(SpdlogLogger, IsRegisteredByOneTest) { spdlog::null_logger_mt("made_in_a_test"); }
TEST(SpdlogLogger, IsHeardInTheNext) {
  auto const logger = spdlog::get("made_in_a_test");
  ASSERT_NE(logger, nullptr) << "the test before makes it";
  logger->info("by default"), logger->debug("in detail");
  spdlog::drop("made_in_a_test");
}
TEST(Spdlog, TellsTheSpansOfASecret) {
  std::ostringstream text;
  auto const logger = std::make_shared<spdlog::logger>("mine", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  logger->set_formatter(tracing::bridge::span_path_formatter("[%l] %*: %v"));
  TRACE_SPAN(info, "login", tracing::kv("token", "canary"));
  logger->info("with a password");
  std::fputs(text.str().c_str(), stdout);
}
TEST(Spdlog, Fails) {
  spdlog::debug("in detail");
  ADD_FAILURE();
}
TEST(Spdlog, FailsForAReason) {
  spdlog::error("the reason");
  ADD_FAILURE();
}
TEST(Spdlog, LogsInAForkedChild) {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    spdlog::info("from the child");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
TEST(Spdlog, IsRecorded) {
  spdlog::debug("in detail");
  EXPECT_THAT(testlog::records(),
              Contains(testlog::Event(testlog::HasLevel(tracing::Level::debug), testlog::HasTarget("spdlog"),
                                      testlog::HasMessage("in detail"))));
}
TEST(Spdlog, IsCapturedByTheTest) {
  testing::internal::CaptureStdout();
  spdlog::info("by default");
  spdlog::debug("in detail");
  std::string const text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("[info] by default\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("in detail")));
}
TEST(Spdlog, IsCapturedByTheTestOnStderr) {
  auto const logger = spdlog::stderr_color_mt("errors");
  testing::internal::CaptureStderr();
  logger->error("broken");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("[errors] [error] broken\n"));
  spdlog::drop("errors");
}
TEST(Spdlog, GoesToItsOwnSinks) {
  std::ostringstream text;
  auto const sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
  auto const logger = std::make_shared<spdlog::logger>("mine", sink);
  logger->set_pattern("%v");
  logger->info("by default"), logger->debug("in detail");
  EXPECT_EQ(text.str(), "by default\n");
  logger->set_level(spdlog::level::debug);
  logger->info("by default"), logger->debug("in detail");
  EXPECT_EQ(text.str(), "by default\nby default\nin detail\n");
}
TEST(Spdlog, KeepsLevelsThatATestSets) {
  std::ostringstream text;
  auto const logger = std::make_shared<spdlog::logger>("levels", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  logger->set_pattern("%v");
  spdlog::register_logger(logger);
  for (auto const level : {spdlog::level::trace, spdlog::level::debug, spdlog::level::err}) {
    spdlog::set_level(level);
    EXPECT_EQ(logger->level(), level);
    logger->trace("trace"), logger->debug("debug"), logger->error("error");
  }
  spdlog::set_level(spdlog::level::info);
  EXPECT_EQ(text.str(), "trace\ndebug\nerror\ndebug\nerror\nerror\n");
  spdlog::drop("levels");
}

[[noreturn]] void die_loudly() {
  spdlog::stderr_color_mt("dying")->critical("the end");
  std::abort();
}
TEST(SpdlogDeathTest, IsSeenByFastDeathTests) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(die_loudly(), "the end");
}
TEST(SpdlogDeathTest, IsSeenByThreadsafeDeathTests) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(die_loudly(), "the end");
}

}  // namespace
