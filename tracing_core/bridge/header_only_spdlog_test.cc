// The bridge where spdlog is used as headers only. The suite HeaderOnlySpdlog is the row of the table in docs/spdlog.md, a
// test to a cell. Compiled twice: functions of spdlog's that are inlined cannot be replaced, others can.
#include <gtest/gtest.h>

#include <spdlog/async.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "tracing_core/bridge/spdlog_async.h"
#include "tracing_core/bridge/spdlog_test_support.h"

#ifndef SPDLOG_HEADER_ONLY
#error "this is to be compiled with spdlog as headers only"
#endif

namespace {

using tracing_test::Bridged;
using tracing_test::Kept;
using tracing_test::make_logger;
using tracing_test::Registered;

// ---- the table; HeaderOnlySpdlog.Default is a program of its own ----

TEST(HeaderOnlySpdlog, Named) {
  Registered const logger(spdlog::null_logger_mt("net"));
  Bridged bridged;
  TRACE_SPAN(info, "outer");
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: net: hello\nDEBUG outer: net: below its level\n");
}

TEST(HeaderOnlySpdlog, Later) {
  Bridged bridged;
  Registered const logger(spdlog::null_logger_mt("later"));
  TRACE_SPAN(info, "outer");
  tracing::bridge::refresh_spdlog();  // testlog does that when a test begins
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: later: hello\nDEBUG outer: later: below its level\n");
}

TEST(HeaderOnlySpdlog, Unregistered) {
  Bridged bridged;
  Kept kept;
  auto const logger = make_logger("private", kept);
  TRACE_SPAN(info, "outer");
  EXPECT_TRUE(tracing::bridge::attach(logger));
  logger->info("hello");
  logger->debug("below its level");
  EXPECT_EQ(bridged.take(), " INFO outer: private: hello\nDEBUG outer: private: below its level\n");
  EXPECT_EQ(kept.take(), "info hello\n");
}

TEST(HeaderOnlySpdlog, Async) {
  Kept kept;
  Bridged bridged("trace", {}, {.thread_names = true, .timer = nullptr});
  {
    struct KeptSink : spdlog::sinks::dist_sink_mt {
      explicit KeptSink(spdlog::sink_ptr to) { add_sink(std::move(to)); }
    };
    Registered const logger(tracing::bridge::async_factory::create<KeptSink>("queued", kept.sink));
    kept.sink->set_pattern("%l %v");
    TRACE_SPAN(info, "outer");
    logger->info("hello");
    logger->debug("below its level");
    TRACE_INFO("hello", tracing::target("queued"));
    std::string const text = bridged.take();
    std::string const last = text.substr(text.rfind(" INFO"));
    std::string debug = last;
    debug.replace(0, 5, "DEBUG").replace(debug.find("hello"), 5, "below its level");
    EXPECT_EQ(text, last + debug + last);
  }
  spdlog::init_thread_pool(1, 1);  // ends the one before
  EXPECT_EQ(kept.take(), "info hello\n");
}

TEST(HeaderOnlySpdlog, ClonesOfAsyncLoggersWriteTheirOwnName) {
  std::ostringstream text;
  {
    Bridged bridged;
    Registered const logger(tracing::bridge::async_factory::create<spdlog::sinks::ostream_sink_mt>("queued", text));
    logger->set_pattern("%n %v");
    logger->clone("other")->info("x");
    EXPECT_EQ(bridged.take(), " INFO other: x\n");
  }
  spdlog::init_thread_pool(1, 1);
  EXPECT_EQ(text.str(), "other x\n");
}

// ---- what is different from the shared library ----

TEST(HeaderOnlySpdlog, AsyncLoggersOfItsOwnCannotBeAttached) {
  Bridged bridged;
  auto const logger = spdlog::create_async<spdlog::sinks::null_sink_mt>("queued");
  EXPECT_FALSE(tracing::bridge::attach(logger));
  spdlog::drop("queued");
  spdlog::init_thread_pool(1, 1);
}

class HeaderOnlySpdlogLevels : public testing::Test {
 protected:
  HeaderOnlySpdlogLevels() { spdlog::register_logger(logger_); }
  ~HeaderOnlySpdlogLevels() override { spdlog::drop("mine"); }

  Kept kept_;
  std::shared_ptr<spdlog::logger> logger_ = make_logger("mine", kept_);
};

TEST_F(HeaderOnlySpdlogLevels, OwnSinksSeeWhatTheyWouldWithoutTheBridge) {
  auto const counted = std::make_shared<spdlog::sinks::ostream_sink_mt>(kept_.text);
  counted->set_pattern("second %v");
  logger_->sinks().push_back(counted);
  Bridged bridged;
  logger_->debug("only an event");
  logger_->info("both");
  EXPECT_EQ(bridged.take(), "DEBUG mine: only an event\n INFO mine: both\n");
  EXPECT_EQ(kept_.take(), "info both\nsecond both\n");
}

TEST_F(HeaderOnlySpdlogLevels, ChangedByTheUserHoldAndSurvive) {
  for (auto const level : {spdlog::level::trace, spdlog::level::debug, spdlog::level::warn}) {
    {
      Bridged bridged;
      logger_->set_level(level);
      logger_->warn("a"), logger_->debug("b");
      EXPECT_EQ(kept_.take(), level == spdlog::level::warn ? "warning a\n" : "warning a\ndebug b\n");
      tracing::bridge::refresh_spdlog();
      bridged.take();
      logger_->trace("c");
      EXPECT_EQ(bridged.take(), "TRACE mine: c\n");
      EXPECT_EQ(kept_.take(), level == spdlog::level::trace ? "trace c\n" : "");
    }
    EXPECT_EQ(logger_->level(), level);
  }
}

TEST_F(HeaderOnlySpdlogLevels, FollowTheFilter) {
  Bridged bridged("mine=debug");
  logger_->trace("not wanted"), logger_->debug("an event"), logger_->info("both");
  EXPECT_EQ(bridged.take(), "DEBUG mine: an event\n INFO mine: both\n");
  EXPECT_EQ(kept_.take(), "info both\n");
}

TEST_F(HeaderOnlySpdlogLevels, AreNotLoweredWhereTheFilterWantsNoMore) {
  Bridged bridged("mine=warn");
  EXPECT_EQ(logger_->level(), spdlog::level::info);
}

TEST_F(HeaderOnlySpdlogLevels, SetToWhatTheFilterWantsHoldAndSurvive) {
  for (auto const level : {spdlog::level::trace, spdlog::level::debug, spdlog::level::info}) {
    std::string const name = spdlog::level::to_string_view(level).data();
    logger_->set_level(spdlog::level::warn);
    {
      Bridged bridged("mine=" + name);
      logger_->set_level(level);
      logger_->log(level, "x");
      EXPECT_EQ(kept_.take(), name + " x\n");
      tracing::bridge::refresh_spdlog();
      logger_->log(level, "y");
      EXPECT_EQ(kept_.take(), name + " y\n");
    }
    EXPECT_EQ(logger_->level(), level);
  }
}

TEST_F(HeaderOnlySpdlogLevels, OfARegisteredCloneAreTheUsersOwn) {
  {
    Bridged bridged;
    auto const cloned = logger_->clone("net");
    spdlog::register_logger(cloned);
    tracing::bridge::refresh_spdlog();
    cloned->debug("an event"), cloned->info("both");
    EXPECT_EQ(bridged.take(), "DEBUG net: an event\n INFO net: both\n");
    EXPECT_EQ(kept_.take(), "info both\n");
    logger_->debug("an event");
    EXPECT_EQ(bridged.take(), "DEBUG mine: an event\n");
    EXPECT_EQ(kept_.take(), "");
  }
  auto const cloned = spdlog::get("net");
  EXPECT_EQ(cloned->level(), spdlog::level::info);
  EXPECT_EQ(cloned->sinks(), logger_->sinks());
  spdlog::drop("net");
}

TEST_F(HeaderOnlySpdlogLevels, NothingIsLeftWhereItIsUninstalled) {
  auto const sinks = logger_->sinks();
  { Bridged bridged; }
  EXPECT_EQ(logger_->sinks(), sinks);
  EXPECT_EQ(logger_->level(), spdlog::level::info);
}

TEST_F(HeaderOnlySpdlogLevels, BacktracesHoldWhatTheyWouldWithoutTheBridge) {
  logger_->enable_backtrace(8);
  Bridged bridged;
  logger_->debug("kept");
  EXPECT_EQ(bridged.take(), "DEBUG mine: kept\n");
  EXPECT_EQ(kept_.take(), "");
  logger_->dump_backtrace();
  EXPECT_EQ(kept_.take(),
            "info ****************** Backtrace Start ******************\ndebug kept\n"
            "info ****************** Backtrace End ********************\n");
}

TEST_F(HeaderOnlySpdlogLevels, SinksThatThrowAndFlushDoAsWithoutTheBridge) {
  struct Throwing final : spdlog::sinks::sink {
    int flushed = 0;
    void log(spdlog::details::log_msg const&) override { throw std::runtime_error("disk full"); }
    void flush() override { ++flushed; }
    void set_pattern(std::string const&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
  };
  auto const throwing = std::make_shared<Throwing>();
  logger_->sinks().insert(logger_->sinks().begin(), throwing);
  std::string errors;
  logger_->set_error_handler([&](std::string const& text) { errors += text + "\n"; });
  logger_->flush_on(spdlog::level::trace);
  Bridged bridged;
  logger_->debug("only an event");
  EXPECT_EQ(throwing->flushed, 0);
  logger_->info("x");
  logger_->log(spdlog::source_loc{"a.cc", 3, "f"}, spdlog::level::info, "y");
  EXPECT_EQ(kept_.take(), "info x\ninfo y\n");
  EXPECT_EQ(errors, "disk full\ndisk full [a.cc(3)]\n");
  EXPECT_EQ(throwing->flushed, 2);
}

TEST_F(HeaderOnlySpdlogLevels, LoggersThatTookTheSinksOverAreHeardByThem) {
  Bridged bridged;
  spdlog::logger other("other", logger_->sinks().begin(), logger_->sinks().end());
  other.set_level(spdlog::level::debug);
  auto const cloned = logger_->clone("cloned");
  other.debug("x");
  cloned->info("y");
  EXPECT_EQ(bridged.take(), "DEBUG other: x\n INFO cloned: y\n");
  EXPECT_EQ(kept_.take(), "debug x\ninfo y\n");
}

TEST_F(HeaderOnlySpdlogLevels, SinksThatTheUserExchangedAreHeardAfterARefresh) {
  Bridged bridged;
  logger_->sinks() = {kept_.sink};
  tracing::bridge::refresh_spdlog();
  logger_->debug("x");
  EXPECT_EQ(bridged.take(), "DEBUG mine: x\n");
  EXPECT_EQ(kept_.take(), "");
}

TEST(HeaderOnlySpdlogConsole, IsMutedAndRestored) {
  Registered const logger(spdlog::stdout_color_mt("console"));
  logger->set_pattern("%v");
  testing::internal::CaptureStdout();
  {
    Bridged bridged("trace", {.mute_console = true});
    logger->info("muted");
  }
  logger->info("restored");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "restored\n");
}

// What a dumped backtrace of "heard" and "below its level" prints on a console that is mute for both, by loggers of `make`.
std::string dumped_on_console(std::shared_ptr<spdlog::logger> (*make)()) {
  testing::internal::CaptureStdout();
  {
    Bridged bridged("trace", {.mute_console = true});
    Registered const logger(make());
    tracing::bridge::refresh_spdlog();
    logger->set_pattern("%v");
    logger->enable_backtrace(8);
    logger->info("heard"), logger->debug("below its level");
    EXPECT_EQ(bridged.take(), " INFO console: heard\nDEBUG console: below its level\n");
    logger->dump_backtrace();
    EXPECT_EQ(bridged.take(), "") << "became events a second time";
    spdlog::init_thread_pool(1, 1);  // after all that is queued
  }
  return testing::internal::GetCapturedStdout();
}
constexpr char kDumped[] = "****************** Backtrace Start ******************\nheard\nbelow its level\n"
                           "****************** Backtrace End ********************\n";

TEST(HeaderOnlySpdlogConsole, PrintsADumpedBacktrace) {
  EXPECT_EQ(dumped_on_console([] { return spdlog::stdout_color_mt("console"); }), kDumped);
}

TEST(HeaderOnlySpdlogConsole, PrintsADumpedBacktraceOfAnAsyncLogger) {
  EXPECT_EQ(dumped_on_console([] { return spdlog::stdout_color_mt<tracing::bridge::async_factory>("console"); }), kDumped);
}

TEST(HeaderOnlySpdlogConsole, PrintsIntoWhatATestCaptures) {
  Registered const logger(spdlog::stdout_color_mt("console"));
  logger->set_pattern("%v");
  Bridged bridged("trace", {.mute_console = true});
  testing::internal::CaptureStdout();
  logger->info("x"), logger->debug("below its level");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "x\n");
}

}  // namespace
