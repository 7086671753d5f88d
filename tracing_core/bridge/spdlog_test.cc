// Tests the bridge with spdlog as a shared library and, compiled a second time, as headers only.
#include "tracing_core/bridge/spdlog.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/async.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "tracing_core/bridge/span_path_flag.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::bridge::attach;
using tracing::bridge::attach_all;
using tracing::bridge::Console;
using tracing::bridge::detach;
using tracing::bridge::detach_all;

/// Prints what this thread emits, and `filter` selects, into a string.
class Events {
 public:
  explicit Events(std::string_view filter = "trace", tracing::FormatOptions format = {.timer = nullptr})
      : subscriber_(make(filter, std::move(format))) {}

  /// Returns what was printed since the last take().
  std::string take() {
    std::lock_guard const lock(mutex_);
    return std::exchange(text_, {});
  }
  std::shared_ptr<tracing::Registry> const& registry() const { return registry_; }

 private:
  std::shared_ptr<tracing::Registry> make(std::string_view filter, tracing::FormatOptions format) {
    format.ansi = false;
    auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) {
      std::lock_guard const lock(mutex_);
      text_.append(line);
    });
    tracing::PrintOptions options{.format = std::move(format), .writer = tracing::to_sink(std::move(sink))};
    auto selected = tracing::to_filter(tracing::EnvFilter::parse_lossy(filter));
    return registry_ = tracing::RegistryBuilder().with(print_layer(std::move(options)), std::move(selected)).build();
  }

  std::mutex mutex_;
  std::string text_;
  std::shared_ptr<tracing::Registry> registry_;
  tracing::ScopedDefault subscriber_;
};

/// A logger in no registry with a sink that keeps its text.
struct Logger {
  std::ostringstream text;
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text, true);
  std::shared_ptr<spdlog::logger> logger;

  explicit Logger(std::string name) : logger(std::make_shared<spdlog::logger>(std::move(name), sink)) {
    sink->set_pattern("%l %v");
  }
  spdlog::logger* operator->() const { return logger.get(); }
  std::string take() {
    std::string taken = text.str();
    text.str({});
    return taken;
  }
};

/// Detaches all registered loggers, and drops the loggers that a test registered.
class SpdlogBridge : public testing::Test {
 protected:
  ~SpdlogBridge() override {
    detach_all();
    for (char const* const name : {"console", "named", "later"}) spdlog::drop(name);
  }
};

// ---- events ----

TEST_F(SpdlogBridge, MapsLevelsAndCallsTheUnnamedLoggerSpdlog) {
  Events events;
  Logger logger("");
  logger->set_level(spdlog::level::trace);
  attach(logger.logger);
  logger->trace("t"), logger->debug("d"), logger->info("i"), logger->warn("w"), logger->error("e"),
      logger->critical("c");
  EXPECT_EQ(events.take(),
            "TRACE spdlog: t\nDEBUG spdlog: d\n INFO spdlog: i\n WARN spdlog: w\nERROR spdlog: e\nERROR spdlog: c\n");
}

struct Logs {  // logs to itself while it is printed
  Logger const& logger;
  friend std::ostream& operator<<(std::ostream& os, Logs const& x) {
    x.logger->error("logged");
    return os << "a value";
  }
};

TEST_F(SpdlogBridge, KeepsWhatIsLoggedWhileAValueIsPrinted) {
  Events events;
  Logger const logger("net");
  attach(logger.logger);
  TRACE_INFO("{}", Logs{logger}, tracing::target("here"));
  EXPECT_EQ(events.take(), "ERROR net: logged\n INFO here: a value\n");
}

TEST_F(SpdlogBridge, KeepsThePlaceThatMacrosGive) {
  Events events("info", {.file = true, .line_number = true, .timer = nullptr});
  Logger logger("net");
  attach(logger.logger);
  SPDLOG_LOGGER_INFO(logger.logger, "here");
  std::string const line = std::to_string(__LINE__ - 1);
  EXPECT_EQ(events.take(), " INFO net: " __FILE__ ":" + line + ": here\n");
  logger->info("somewhere");
  EXPECT_EQ(events.take(), " INFO net: somewhere\n");
}

TEST_F(SpdlogBridge, DistinguishesMoreStatementsThanItsTableHolds) {
  Events events("info", {.file = true, .line_number = true, .timer = nullptr});
  Logger logger("script");
  attach(logger.logger);
  char file[] = "a.cc";
  for (int line = 1; line < 4000; ++line) logger->log(spdlog::source_loc{file, line, "f"}, spdlog::level::info, "x");
  events.take();
  logger->log(spdlog::source_loc{file, 1, "f"}, spdlog::level::info, "x");
  file[0] = 'b';
  logger->log(spdlog::source_loc{file, 3999, "f"}, spdlog::level::info, "x");
  EXPECT_EQ(events.take(), " INFO script: a.cc:1: x\n INFO script: b.cc:3999: x\n");
}

TEST_F(SpdlogBridge, TakesNewStatementsFromSeveralThreads) {
  Events events("info");
  Logger logger("busy");
  attach(logger.logger);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      tracing::ScopedDefault const same(events.registry());
      for (int line = 1; line <= 50; ++line)
        logger->log(spdlog::source_loc{"t.cc", line, "f"}, spdlog::level::info, "x");
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(events.take().size(), 4 * 50 * std::string_view(" INFO busy: x\n").size());
}

TEST_F(SpdlogBridge, KeepsTheTimeOfTheMessage) {
  Events events("info", {.timer = tracing::utc_timer()});
  Logger logger("net");
  attach(logger.logger);
  logger->log(spdlog::log_clock::time_point(std::chrono::seconds(1)), spdlog::source_loc(), spdlog::level::info,
              "early");
  EXPECT_EQ(events.take(), "1970-01-01T00:00:01.000000Z  INFO net: early\n");
}

TEST_F(SpdlogBridge, EventsOfAnAsyncLoggerHaveNoSpan) {
  Events events("info");
  auto pool = std::make_shared<spdlog::details::thread_pool>(
      8, 1, [&] { static thread_local tracing::ScopedDefault const same(events.registry()); });
  auto const logger = std::make_shared<spdlog::async_logger>("queued", tracing::bridge::spdlog_sink(), pool);
  TRACE_SPAN(info, "outer");
  logger->info("x");
  pool.reset();  // after all queued messages
  EXPECT_EQ(events.take(), " INFO queued: x\n");
}

TEST_F(SpdlogBridge, LeavesLevelsAndOtherSinksAlone) {
  Events events;
  Logger logger("mine");
  attach(logger.logger);
  TRACE_SPAN(info, "job", tracing::kv("id", 7));
  logger->debug("below the logger's level"), logger->info("x");
  EXPECT_EQ(events.take(), " INFO job{id=7}: mine: x\n");
  EXPECT_EQ(logger.take(), "info x\n");
  EXPECT_EQ(logger->level(), spdlog::level::info);
  logger.sink->set_level(spdlog::level::err);
  logger->info("not for that sink");
  EXPECT_EQ(events.take(), " INFO job{id=7}: mine: not for that sink\n");
  EXPECT_EQ(logger.take(), "");
}

TEST_F(SpdlogBridge, ForkedChildLogs) {
  Events events;
  Logger logger("net");
  attach(logger.logger);
  pid_t const child = fork();
  if (child == 0) {
    SPDLOG_LOGGER_ERROR(logger.logger, "new statement");
    _exit(events.take() == "ERROR net: new statement\n" ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// ---- attaching ----

TEST_F(SpdlogBridge, AttachesTheDefaultAndAllRegisteredLoggers) {
  Events events;
  spdlog::create<spdlog::sinks::null_sink_mt>("named");
  attach_all();
  spdlog::info("x"), spdlog::get("named")->info("x");
  EXPECT_EQ(events.take(), " INFO spdlog: x\n INFO named: x\n");
  spdlog::create<spdlog::sinks::null_sink_mt>("later")->info("not attached yet");
  attach_all();
  spdlog::info("y"), spdlog::get("named")->info("y"), spdlog::get("later")->info("y");
  EXPECT_EQ(events.take(), " INFO spdlog: y\n INFO named: y\n INFO later: y\n");
  detach_all();
  spdlog::get("named")->warn("z");
  EXPECT_EQ(events.take(), "");
}

TEST_F(SpdlogBridge, AttachesOnce) {
  Events events;
  Logger logger("mine");
  EXPECT_TRUE(attach(logger.logger));
  EXPECT_FALSE(attach(logger.logger));
  EXPECT_FALSE(attach(nullptr));
  logger->info("x");
  EXPECT_EQ(events.take(), " INFO mine: x\n");
  EXPECT_TRUE(detach(logger.logger));
  EXPECT_FALSE(detach(logger.logger));
  EXPECT_FALSE(detach(nullptr));
}

TEST_F(SpdlogBridge, ACloneIsAttachedUnderItsOwnName) {
  Events events;
  auto const logger = spdlog::stdout_color_mt("console");
  attach(logger);
  auto const clone = logger->clone("clone");
  clone->info("x");
  EXPECT_EQ(events.take(), " INFO clone: x\n");
  EXPECT_TRUE(detach(logger));
  EXPECT_TRUE(detach(clone));
  EXPECT_EQ(clone->sinks(), logger->sinks());
}

// ---- the console ----

std::string captured(auto log) {
  testing::internal::CaptureStdout();
  log();
  return testing::internal::GetCapturedStdout();
}

TEST_F(SpdlogBridge, SetsConsoleSinksOfEveryKindAsideAndRestoresThem) {
  using namespace spdlog::sinks;
  std::vector<spdlog::sink_ptr> const sinks{
      std::make_shared<stdout_color_sink_mt>(), std::make_shared<stdout_color_sink_st>(),
      std::make_shared<stdout_sink_mt>(),       std::make_shared<stdout_sink_st>(),
      std::make_shared<stderr_color_sink_mt>(), std::make_shared<stderr_color_sink_st>(),
      std::make_shared<stderr_sink_mt>(),       std::make_shared<stderr_sink_st>()};
  Events events;
  auto const logger = std::make_shared<spdlog::logger>("all", sinks.begin(), sinks.end());
  testing::internal::CaptureStderr();
  EXPECT_EQ(captured([&] { attach(logger), logger->info("x"), logger->flush(); }), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(events.take(), " INFO all: x\n");
  detach(logger);
  EXPECT_EQ(logger->sinks(), sinks);
}

TEST_F(SpdlogBridge, ConsoleSinksPrintIfTheyAreKept) {
  auto const logger = spdlog::stdout_color_mt("console");
  Events events;
  logger->set_pattern("%v");
  EXPECT_EQ(captured([&] { attach(logger, Console::keep), logger->info("x"); }), "x\n");
  EXPECT_EQ(events.take(), " INFO console: x\n");
}

TEST_F(SpdlogBridge, ConsoleSinksPrintIntoWhatATestCaptures) {
  auto const logger = spdlog::stdout_color_mt("console");
  Events events;
  attach_all();
  spdlog::set_pattern("new pattern: %v");
  logger->sinks().front()->set_level(spdlog::level::warn);  // the bridge's own
  EXPECT_EQ(captured([&] { logger->info("x"), logger->warn("y"); }), "new pattern: y\n");
  EXPECT_EQ(events.take(), " WARN console: y\n");
  spdlog::set_pattern("%+");
}

// ---- loops ----

TEST_F(SpdlogBridge, AMessageOfALayerIsNoEventAndIsPrinted) {
  struct Logging final : tracing::Layer {
    tracing::Hooks hooks() const noexcept override { return tracing::Hooks::event; }
    void on_event(tracing::Event const&, tracing::Context const&) noexcept override {
      spdlog::get("console")->info("an event");
    }
  };
  auto const logger = spdlog::stdout_color_mt("console");
  logger->set_pattern("%v");
  tracing::ScopedDefault const subscriber(tracing::RegistryBuilder().with(std::make_unique<Logging>()).build());
  EXPECT_EQ(captured([&] { attach(logger), logger->info("x"); }), "an event\n");
}

TEST_F(SpdlogBridge, TextPrintedThroughAnAttachedLoggerMakesNoEvents) {
  Logger logger("out");
  logger.sink->set_pattern("%v");
  auto sink = tracing::make_sink([&](tracing::Level, std::string_view line) { logger->info("{}", line); });
  tracing::PrintOptions options{.format = {.timer = nullptr}, .writer = tracing::to_sink(sink)};
  tracing::ScopedDefault const subscriber(tracing::RegistryBuilder().with(print_layer(std::move(options))).build());
  attach(logger.logger);
  TRACE_INFO("x", tracing::target("lib"));
  logger->warn("y");
  EXPECT_EQ(logger.take(), " INFO lib: x\n\n WARN out: y\n\ny\n");
}

// ---- to spdlog ----

TEST(SpanPathFlag, PrintsTheSpansOfTheLoggingThread) {
  Events events;
  Logger logger("out");
  logger->set_formatter(tracing::bridge::span_path_formatter("%l %*: %v"));
  logger->info("outside");
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_SPAN(info, "inner");
  logger->info("inside");
  EXPECT_EQ(logger.take(), "info : outside\ninfo outer{id=7}:inner: inside\n");
}

TEST(SpanPathFlag, PrintsNothingOnTheThreadOfAnAsyncLogger) {
  Events events;
  Logger out("out");
  auto pool = std::make_shared<spdlog::details::thread_pool>(8, 1);
  auto const logger = std::make_shared<spdlog::async_logger>("queued", out.sink, pool);
  logger->set_formatter(tracing::bridge::span_path_formatter("[%+] %v", '+'));
  TRACE_SPAN(info, "outer");
  logger->info("x");
  pool.reset();  // after all queued messages
  EXPECT_EQ(out.take(), "[] x\n");
}

}  // namespace
