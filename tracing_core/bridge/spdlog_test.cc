// What the bridge promises, whichever way a logger is heard: events, levels, the user's own sinks, loops.
#include "tracing_core/bridge/spdlog.h"

#include <gtest/gtest.h>
#include <gtest/gtest-spi.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <spdlog/async.h>
#include <spdlog/cfg/helpers.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/bridge/span_path_flag.h"
#include "tracing_core/bridge/spdlog_test_support.h"
#include "tracing_core/collect/reload.h"
#include "tracing_core/dispatch/runtime_callsite.h"

namespace {

using tracing_test::Bridged;
using tracing_test::Kept;
using tracing_test::make_logger;
using tracing_test::Recording;
using tracing_test::Registered;

// ---- what an event has ----

TEST(SpdlogBridge, MapsLevels) {
  Bridged bridged;
  spdlog::trace("t"), spdlog::debug("d"), spdlog::info("i"), spdlog::warn("w"), spdlog::error("e"), spdlog::critical("c");
  EXPECT_EQ(bridged.take(),
            "TRACE spdlog: t\nDEBUG spdlog: d\n INFO spdlog: i\n WARN spdlog: w\nERROR spdlog: e\nERROR spdlog: c\n");
}

TEST(SpdlogBridge, KeepsThePlaceThatMacrosGive) {
  Recording records;
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  SPDLOG_INFO("here");
  std::uint32_t const line = __LINE__ - 1;
  tracing::Metadata const* const metadata = records->last_event();
  ASSERT_NE(metadata, nullptr);
  EXPECT_TRUE(metadata->file().ends_with("spdlog_test.cc"));
  EXPECT_EQ(metadata->line(), line);
  EXPECT_EQ(metadata->function(), "TestBody");
  EXPECT_EQ(metadata->target(), "spdlog");
  tracing::bridge::uninstall_spdlog();
}

TEST(SpdlogBridge, KnowsNoPlaceWhereNoneWasGiven) {
  Recording records;
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  spdlog::info("somewhere");
  EXPECT_TRUE(records->last_event()->file().empty());
  EXPECT_FALSE(tracing::knows_line(*records->last_event()));
  tracing::bridge::uninstall_spdlog();
}

TEST(SpdlogBridge, TakesPlacesThatAreMadeUpAsTheProgramRuns) {
  Kept kept;
  auto const logger = make_logger("script", kept);
  Bridged bridged("info", {}, {.file = true, .line_number = true, .timer = nullptr});
  char file[] = "a.cc";
  for (int line = 1; line < 4000; ++line) logger->log(spdlog::source_loc{file, line, "f"}, spdlog::level::info, "x");
  bridged.take();
  logger->log(spdlog::source_loc{file, 1, "f"}, spdlog::level::info, "x");
  file[0] = 'b';
  logger->log(spdlog::source_loc{file, 1, "f"}, spdlog::level::info, "x");
  EXPECT_EQ(bridged.take(), " INFO script: a.cc:1: x\n INFO script: b.cc:1: x\n");
}

TEST(SpdlogBridge, TellsLoggersApartThatTakeTheSameMemory) {
  Bridged bridged;
  Kept kept;
  alignas(spdlog::logger) unsigned char memory[sizeof(spdlog::logger)];
  for (char const* const name : {"first", "second"}) {
    auto* const logger = new (memory) spdlog::logger(name, kept.sink);
    logger->info("x");
    logger->~logger();
  }
  EXPECT_EQ(bridged.take(), " INFO first: x\n INFO second: x\n");
}

TEST(SpdlogBridge, KeepsTheTimeOfTheMessage) {
  Bridged bridged("info", {}, {.timer = tracing::utc_timer()});
  spdlog::default_logger()->log(spdlog::log_clock::time_point(std::chrono::seconds(1)), spdlog::source_loc(),
                                spdlog::level::info, "early");
  EXPECT_EQ(bridged.take(), "1970-01-01T00:00:01.000000Z  INFO spdlog: early\n");
}

TEST(SpdlogBridge, KeepsTheThreadAndItsSpanForAsyncLoggers) {
  Bridged bridged("info", {}, {.thread_names = true, .timer = nullptr});
  Registered const logger(spdlog::create_async<spdlog::sinks::null_sink_mt>("queued"));
  TRACE_SPAN(info, "outer");
  logger->info("x");
  TRACE_INFO("y", tracing::target("queued"));
  std::string const text = bridged.take();
  std::size_t const half = text.size() / 2;
  EXPECT_EQ(text.substr(0, half - 2), text.substr(half, half - 2));
  spdlog::init_thread_pool(1, 1);
}

// ---- levels, and the user's own sinks ----

class SpdlogBridgeLevels : public testing::Test {
 protected:
  SpdlogBridgeLevels() { spdlog::register_logger(logger_); }
  ~SpdlogBridgeLevels() override { spdlog::drop("mine"); }

  // The level as the code sees it that asks before it formats.
  int stored_level() const {
    for (int level = spdlog::level::trace; level < spdlog::level::off; ++level) {
      if (logger_->should_log(static_cast<spdlog::level::level_enum>(level))) return level;
    }
    return spdlog::level::off;
  }

  Kept kept_;
  std::shared_ptr<spdlog::logger> logger_ = make_logger("mine", kept_);
};

TEST_F(SpdlogBridgeLevels, AreLoweredAsTheFilterAsks) {
  for (auto const& [filter, level] : {std::pair{"mine=debug", spdlog::level::debug},
                                      {"mine=trace", spdlog::level::trace},
                                      {"mine=error", spdlog::level::info},
                                      {"off", spdlog::level::info},
                                      {"other=trace", spdlog::level::info},
                                      {"[job]=debug", spdlog::level::debug}}) {
    Bridged bridged(filter);
    EXPECT_EQ(stored_level(), level) << filter;
  }
  EXPECT_EQ(stored_level(), spdlog::level::info);
}

TEST_F(SpdlogBridgeLevels, AreNotRaised) {
  logger_->set_level(spdlog::level::trace);
  Bridged bridged("mine=error");
  logger_->info("not shown");
  EXPECT_EQ(bridged.take(), "");
  EXPECT_EQ(kept_.take(), "info not shown\n");
}

TEST_F(SpdlogBridgeLevels, OwnSinksSeeWhatTheyWouldWithoutTheBridge) {
  Bridged bridged;
  logger_->debug("only an event");
  logger_->info("both");
  EXPECT_EQ(bridged.take(), "DEBUG mine: only an event\n INFO mine: both\n");
  EXPECT_EQ(kept_.take(), "info both\n");
}

TEST_F(SpdlogBridgeLevels, OwnSinksKeepTheirOwnLevels) {
  kept_.sink->set_level(spdlog::level::err);
  Bridged bridged("info");
  logger_->info("x");
  EXPECT_EQ(bridged.take(), " INFO mine: x\n");
  EXPECT_EQ(kept_.take(), "");
  EXPECT_EQ(kept_.sink->level(), spdlog::level::err);
}

TEST_F(SpdlogBridgeLevels, ChangedByTheUserHoldForOwnSinksAtOnceAndSurvive) {
  {
    Bridged bridged;
    logger_->set_level(spdlog::level::warn);
    logger_->info("no more");
    logger_->set_level(spdlog::level::trace);
    logger_->debug("now, too");
    EXPECT_EQ(bridged.take(), " INFO mine: no more\nDEBUG mine: now, too\n");
    EXPECT_EQ(kept_.take(), "debug now, too\n");
    logger_->set_level(spdlog::level::err);
  }
  EXPECT_EQ(stored_level(), spdlog::level::err);
  EXPECT_EQ(logger_->level(), spdlog::level::err);
}

TEST_F(SpdlogBridgeLevels, ChangedForAllLoggersSurvive) {
  {
    Bridged bridged;
    spdlog::set_level(spdlog::level::warn);
    logger_->info("event");
    EXPECT_EQ(bridged.take(), " INFO mine: event\n");
    EXPECT_EQ(kept_.take(), "");
  }
  EXPECT_EQ(stored_level(), spdlog::level::warn);
  spdlog::set_level(spdlog::level::info);
}

std::unique_ptr<tracing::Layer> print_nowhere() {
  return tracing::print_layer({.writer = tracing::to_sink(tracing::make_sink([](tracing::Level, std::string_view) {}))});
}

TEST_F(SpdlogBridgeLevels, AreThoseOfTheFilterThatIsThereNow) {
  Bridged bridged("mine=error");
  EXPECT_EQ(stored_level(), spdlog::level::info);
  {
    tracing::ScopedDefault const more(tracing::RegistryBuilder().with(print_nowhere()).build());
    EXPECT_EQ(stored_level(), spdlog::level::trace);
  }
  EXPECT_EQ(stored_level(), spdlog::level::info);
}

TEST_F(SpdlogBridgeLevels, FollowAReload) {
  auto [filter, handle] = tracing::reloadable(tracing::boxed(tracing::EnvFilter::parse_lossy("warn")));
  tracing::ScopedDefault const subscriber(
      tracing::RegistryBuilder().with(print_nowhere(), std::move(filter)).build());
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  EXPECT_EQ(stored_level(), spdlog::level::info);
  handle.reload(tracing::boxed(tracing::EnvFilter::parse_lossy("mine=debug")));
  EXPECT_EQ(stored_level(), spdlog::level::debug);
  handle.reload(tracing::boxed(tracing::EnvFilter::parse_lossy("off")));
  EXPECT_EQ(stored_level(), spdlog::level::info);
  tracing::bridge::uninstall_spdlog();
}

TEST_F(SpdlogBridgeLevels, AreThoseThatWereSetWhileTheFilterChanged) {
  auto [filter, handle] = tracing::reloadable(tracing::boxed(tracing::EnvFilter::parse_lossy("off")));
  tracing::ScopedDefault const subscriber(
      tracing::RegistryBuilder().with(print_nowhere(), std::move(filter)).build());
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  std::atomic<int> asked{0}, done{0};
  constexpr int kRounds = 20'000;
  auto const level_of_round = [](int round) { return round % 2 == 0 ? spdlog::level::warn : spdlog::level::err; };
  std::thread user([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (asked < round) std::this_thread::yield();
      logger_->set_level(level_of_round(round));
      done = round;
    }
  });
  int wrong = 0;
  for (int round = 1; round <= kRounds; ++round) {
    asked = round;
    handle.reload(tracing::boxed(tracing::EnvFilter::parse_lossy(round % 2 == 0 ? "trace" : "off")));
    while (done < round) std::this_thread::yield();
    if (logger_->level() != level_of_round(round)) ++wrong;
  }
  user.join();
  tracing::bridge::uninstall_spdlog();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SpdlogBridgeLevels, OfClonesAreTheUsersOwn) {
  for (char const* const filter : {"trace", "mine=debug,net=trace"}) {
    Bridged bridged(filter);
    auto const cloned = logger_->clone("net");
    cloned->debug("below its level"), cloned->info("x");
    EXPECT_EQ(kept_.take(), "info x\n") << filter;
    EXPECT_EQ(bridged.take(), " INFO net: x\n");
    spdlog::register_logger(cloned);
    cloned->debug("now an event"), cloned->info("y");
    spdlog::drop("net");
    EXPECT_EQ(kept_.take(), "info y\n") << filter;
    EXPECT_EQ(bridged.take(), "DEBUG net: now an event\n INFO net: y\n");
    EXPECT_EQ(cloned->level(), spdlog::level::info);
  }
}

TEST_F(SpdlogBridgeLevels, OfClonesOfAsyncLoggersAreTheUsersOwn) {
  Registered const logger(spdlog::create_async<spdlog::sinks::null_sink_mt>("queued"));
  Bridged bridged;
  auto const cloned = logger->clone("net");
  EXPECT_FALSE(cloned->should_log(spdlog::level::debug));
  EXPECT_EQ(cloned->level(), spdlog::level::info);
  spdlog::init_thread_pool(1, 1);
}

TEST_F(SpdlogBridgeLevels, GoWhereLoggersAreSwappedAndMoved) {
  Bridged bridged;
  Kept kept;
  spdlog::logger other("other", kept.sink);
  other.set_level(spdlog::level::err);
  swap(*logger_, other);
  EXPECT_EQ(logger_->level(), spdlog::level::err);
  EXPECT_EQ(other.level(), spdlog::level::info);
  other.debug("below its level"), other.info("x");
  logger_->info("below its level"), logger_->error("y");
  EXPECT_EQ(kept_.take(), "info x\n");
  EXPECT_EQ(kept.take(), "error y\n");
  swap(*logger_, other);
  spdlog::logger const moved(std::move(*logger_));
  EXPECT_EQ(moved.level(), spdlog::level::info);
}

TEST_F(SpdlogBridgeLevels, StayWhereThatIsAskedFor) {
  Bridged bridged("trace", {.lower_levels = false});
  logger_->debug("below its level");
  logger_->info("x");
  EXPECT_EQ(bridged.take(), " INFO mine: x\n");
}

TEST_F(SpdlogBridgeLevels, BacktracesHoldWhatTheyWouldWithoutTheBridge) {
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

TEST_F(SpdlogBridgeLevels, FlushesOnlyWhatItWouldWithoutTheBridge) {
  struct Counting final : spdlog::sinks::sink {
    int flushed = 0;
    void log(spdlog::details::log_msg const&) override {}
    void flush() override { ++flushed; }
    void set_pattern(std::string const&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
  };
  auto const counting = std::make_shared<Counting>();
  logger_->sinks().push_back(counting);
  logger_->flush_on(spdlog::level::trace);
  Bridged bridged;
  logger_->debug("x");
  EXPECT_EQ(counting->flushed, 0);
  logger_->info("x");
  EXPECT_EQ(counting->flushed, 1);
}

TEST_F(SpdlogBridgeLevels, NothingIsLeftWhereItIsUninstalled) {
  auto const sinks = logger_->sinks();
  { Bridged bridged; }
  EXPECT_EQ(logger_->sinks(), sinks);
  tracing_test::Recording records;
  logger_->info("x");
  EXPECT_TRUE(records->take().empty());
  EXPECT_EQ(kept_.take(), "info x\n");
}

// ---- installing ----

TEST(SpdlogBridge, IsInstalledOnce) {
  Bridged bridged;
  EXPECT_FALSE(tracing::bridge::install_spdlog());
  spdlog::info("x");
  EXPECT_EQ(bridged.take(), " INFO spdlog: x\n");
}

TEST(SpdlogBridge, HearsAReplacedDefaultLogger) {
  Kept kept;
  auto const before = spdlog::default_logger();
  Bridged bridged;
  spdlog::set_default_logger(make_logger("app", kept));
  spdlog::debug("x");
  EXPECT_EQ(bridged.take(), "DEBUG app: x\n");
  spdlog::set_default_logger(before);
}

TEST(SpdlogBridge, RemembersLoggersThatWereAttachedBefore) {
  Kept kept;
  auto const logger = make_logger("private", kept);
  EXPECT_TRUE(tracing::bridge::attach(logger));
  for (int i = 0; i < 2; ++i) {
    Bridged bridged;
    logger->debug("x");
    EXPECT_EQ(bridged.take(), "DEBUG private: x\n");
  }
  EXPECT_EQ(kept.take(), "");
  EXPECT_FALSE(tracing::bridge::attach(nullptr));
}

TEST(SpdlogBridge, IsInstalledAndEndedWhileOthersLog) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  Kept kept;
  auto const logger = make_logger("busy", kept);
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] {
    while (!stop) logger->debug("x"), logger->info("y");
  });
  for (int i = 0; i < 20; ++i) {
    Bridged bridged;
    tracing::bridge::attach(logger);
    tracing::rebuild_interest();
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

TEST(SpdlogBridge, ForkedChildrenLog) {
  Bridged bridged;
  spdlog::info("x");
  pid_t const child = fork();
  if (child == 0) {
    spdlog::default_logger()->set_level(spdlog::level::warn);
    SPDLOG_ERROR("new statement");
    _exit(bridged.take().find("new statement") == std::string::npos ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// ---- loops ----

TEST(SpdlogBridge, ALayerThatLogsBySpdlogEndsThere) {
  Kept kept;
  auto const logger = make_logger("layer", kept);
  struct Logging final : tracing::Layer {
    explicit Logging(std::shared_ptr<spdlog::logger> to) : logger(std::move(to)) {}
    tracing::Hooks hooks() const noexcept override { return tracing::Hooks::event; }
    void on_event(tracing::Event const&, tracing::Context const&) noexcept override { logger->info("an event"); }
    std::shared_ptr<spdlog::logger> logger;
  };
  tracing::ScopedDefault const subscriber(tracing::RegistryBuilder().with(std::make_unique<Logging>(logger)).build());
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  tracing::bridge::attach(logger);
  logger->info("x");
  TRACE_INFO("y");
  EXPECT_EQ(kept.take(), "info an event\ninfo x\ninfo an event\n");
  tracing::bridge::uninstall_spdlog();
}

TEST(SpdlogBridge, TextThatGoesToASpdlogLoggerEndsThere) {
  Kept kept;
  kept.sink->set_pattern("%v");
  auto const logger = make_logger("out", kept);
  auto sink = tracing::make_sink([&](tracing::Level, std::string_view line) { logger->info("{}", line); });
  tracing::ScopedDefault const subscriber(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = tracing::to_sink(sink)}))
          .build());
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  TRACE_INFO("x", tracing::target("lib"));
  logger->warn("y");
  EXPECT_EQ(kept.take(), " INFO lib: x\n\n WARN out: y\n\ny\n");
  tracing::bridge::uninstall_spdlog();
}

TEST(SpdlogBridge, OneSinkMayBeBothTheLoggersAndOurs) {
  Kept kept;
  kept.sink->set_pattern("%v");
  auto const logger = make_logger("both", kept);
  tracing::ScopedDefault const subscriber(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = tracing::to_sink(kept.sink)}))
          .build());
  ASSERT_TRUE(tracing::bridge::install_spdlog());
  logger->info("x");
  EXPECT_EQ(kept.take(), " INFO both: x\nx\n");
  tracing::bridge::uninstall_spdlog();
}

// ---- to spdlog ----

TEST(SpanPathFlag, PrintsTheSpansOfTheLoggingThread) {
  Kept kept;
  auto const logger = make_logger("out", kept);
  logger->set_formatter(tracing::bridge::span_path_formatter("%l %*: %v"));
  Bridged bridged("info");
  logger->info("outside");
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_SPAN(info, "inner");
  logger->info("inside");
  EXPECT_EQ(kept.take(), "info : outside\ninfo outer{id=7}:inner: inside\n");
}

TEST(SpanPathFlag, PrintsNothingOnTheThreadOfAnAsyncLogger) {
  Kept kept;
  Bridged bridged("info");
  auto pool = std::make_shared<spdlog::details::thread_pool>(8, 1);
  auto const logger = std::make_shared<spdlog::async_logger>("queued", kept.sink, pool);
  logger->set_formatter(tracing::bridge::span_path_formatter("[%+] %v", '+'));
  TRACE_SPAN(info, "outer");
  logger->info("x");
  pool.reset();  // after all that is queued
  EXPECT_EQ(kept.take(), "[] x\n");
}

// ---- the console ----

std::string captured(auto log) {
  testing::internal::CaptureStdout();
  log();
  return testing::internal::GetCapturedStdout();
}

// What the console sinks of `log` print where nothing is captured after the bridge was installed.
std::string on_console(auto log) {
  return captured([&] {
    Bridged bridged("trace", {.mute_console = true});
    log();
  });
}

TEST(SpdlogBridgeConsole, PrintsWhereThatIsNotAskedFor) {
  Registered const logger(spdlog::stdout_color_mt("console"));
  logger->set_pattern("%v");
  EXPECT_EQ(captured([&] {
    Bridged bridged;
    logger->info("x");
  }), "x\n");
}

TEST(SpdlogBridgeConsole, IsMutedForEveryKindOfSink) {
  Registered const loggers[] = {Registered(spdlog::stdout_color_mt("a")), Registered(spdlog::stdout_color_st("b")),
                                Registered(spdlog::stdout_logger_mt("c")), Registered(spdlog::stdout_logger_st("d"))};
  EXPECT_EQ(on_console([&] {
    for (auto const& logger : loggers) logger->info("x"), logger->flush();
    Registered(spdlog::stdout_color_mt("later"))->info("x");
    spdlog::logger("private", std::make_shared<spdlog::sinks::stdout_color_sink_mt>()).info("x");
    auto const dist = std::make_shared<spdlog::sinks::dist_sink_mt>();
    dist->add_sink(std::make_shared<spdlog::sinks::stdout_sink_st>());
    spdlog::logger("dist", dist).info("x");
  }), "");
}

TEST(SpdlogBridgeConsole, IsRestored) {
  Registered const logger(spdlog::stdout_color_mt("console"));
  logger->set_pattern("%v");
  on_console([&] { logger->info("x"); });
  EXPECT_EQ(captured([&] { logger->info("x"); }), "x\n");
  EXPECT_EQ(logger->sinks()[0]->level(), spdlog::level::trace);
}

TEST(SpdlogBridgeConsole, PrintsIntoWhatATestCaptures) {
  Registered const logger(spdlog::stdout_color_mt("console"));
  logger->set_pattern("%v");
  Bridged bridged("trace", {.mute_console = true});
  EXPECT_EQ(captured([&] { logger->debug("below its level"), logger->info("x"); }), "x\n");
  EXPECT_EQ(bridged.take(), "DEBUG console: below its level\n INFO console: x\n");
}

TEST(SpdlogBridgeConsole, IsMutedForAsyncLoggers) {
  EXPECT_EQ(on_console([&] {
    Registered const logger(spdlog::create_async<spdlog::sinks::stdout_color_sink_mt>("queued"));
    logger->info("x");
    spdlog::init_thread_pool(1, 1);  // ends the one before, while the logger is there: ThreadSanitizer sees no other order
  }), "");
}

TEST(SpdlogBridgeConsole, PrintsWhatIsNoEvent) {
  for (bool const queued : {false, true}) {
    Registered const logger(queued ? spdlog::create_async<spdlog::sinks::stdout_color_sink_mt>("console")
                                   : spdlog::stdout_color_mt("console"));
    logger->set_pattern("%v");
    logger->enable_backtrace(4);
    EXPECT_EQ(on_console([&] {
      logger->debug("kept");
      logger->dump_backtrace();
      spdlog::init_thread_pool(1, 1);
    }), "****************** Backtrace Start ******************\nkept\n****************** Backtrace End ********************\n");
  }
}

}  // namespace
