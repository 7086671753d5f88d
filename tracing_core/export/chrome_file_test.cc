// The files of Chrome traces: when they are complete, whose they are, and what happens where they cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/chrome_test_support.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/tracing.h"

namespace tracing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace chrome_test;

class ChromeFile : public ::testing::Test {
 protected:
  ChromeFile() { fs::create_directories(folder_); }
  ~ChromeFile() override { fs::remove_all(folder_); }

  std::string path(char const* name = "trace.json") const { return folder_ / name; }
  static std::string content(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  // Those that write a trace. One that was joined may be seen for a moment longer.
  static std::size_t threads(std::size_t expected) {
    std::size_t count = 0;
    for (int i = 0; i < 5000 && (i == 0 || count != expected); ++i, std::this_thread::sleep_for(1ms)) {
      count = 0;
      for (auto const& thread : fs::directory_iterator("/proc/self/task"))
        count += content(thread.path() / "comm") == "tracing-chrome\n";
    }
    return count;
  }

  fs::path const folder_ = fs::path(::testing::TempDir()) / ("chrome_test." + std::to_string(getpid()));
};

TEST_F(ChromeFile, IsCompleteOnceTheGuardIsGone) {
  std::ofstream(path()) << "what was there before and is longer than what comes";
  auto [layer, guard] = chrome_layer({.path = path()});
  EXPECT_EQ(guard.path(), path());
  EXPECT_FALSE(guard.error());
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    emit_a_little();
    guard = {};
    TRACE_INFO("too late");
  });
  std::string const text = content(path());
  EXPECT_TRUE(text.ends_with("\n]\n")) << text;
  EXPECT_EQ(records_of(text).size(), 7U);
  EXPECT_EQ(text.find("too late"), text.npos);
}

TEST_F(ChromeFile, IsATraceFromTheBeginningOnAndHasAllWhenFlushed) {
  auto [layer, guard] = chrome_layer({.path = path()});
  EXPECT_EQ(records_of(content(path()) + "]").size(), 1U);
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, emit_a_little);
  guard.flush();
  EXPECT_FALSE(guard.is_behind());
  EXPECT_EQ(records_of(content(path()) + "]").size(), 7U);
}

TEST_F(ChromeFile, IsWrittenByAThreadOfItsOwnAfterAWhile) {
  auto [layer, guard] = chrome_layer({.path = path()});
  EXPECT_EQ(threads(1), 1U);
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  for (std::size_t expected = 7; expected < 20; expected += 5) {
    with_default(registry, emit_a_little);
    for (int i = 0; guard.is_behind() && i < 5000; ++i) std::this_thread::sleep_for(1ms);
    std::string const text = content(path());
    EXPECT_EQ(records_of(text + "]").size(), expected);
  }
  guard.stop();
  EXPECT_FALSE(guard.start_new(path("2.json")));
  EXPECT_EQ(threads(1), 1U);
  guard = {};
  EXPECT_EQ(threads(0), 0U);
}

TEST_F(ChromeFile, HasNoThreadWhereEachRecordIsWrittenAtOnce) {
  auto [layer, guard] = chrome_layer({.path = path(), .write_through = true});
  EXPECT_EQ(threads(0), 0U);
}

// What is older than that is in the file, or the thread that recorded it waits.
TEST_F(ChromeFile, LetsNoThreadGoOnWhereWhatItRecordedIsTooOld) {
  std::atomic<bool> stuck{false}, go_on{false};
  auto [layer, guard] = chrome_layer({.sink = make_sink([&](Level, std::string_view text) {
    if (text.find("first") == text.npos) return;
    stuck = true;
    while (!go_on) std::this_thread::sleep_for(1ms);
  })});
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  std::atomic<int> recorded{0};
  std::thread recorder([&] {
    with_default(registry, [&] {
      TRACE_INFO("first");
      while (!stuck) std::this_thread::sleep_for(1ms);
      TRACE_INFO("second");  // soon enough
      recorded = 2;
      std::this_thread::sleep_for(300ms);
      TRACE_INFO("third");
      recorded = 3;
    });
  });
  std::this_thread::sleep_for(700ms);
  EXPECT_EQ(recorded, 2);
  EXPECT_TRUE(guard.is_behind());
  go_on = true;
  recorder.join();
  EXPECT_EQ(recorded, 3);
  EXPECT_FALSE(guard.is_behind());
}

TEST_F(ChromeFile, HasEachRecordAtOnceWhereThatIsAsked) {
  auto [layer, guard] = chrome_layer({.path = path(), .write_through = true});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&] {
    TRACE_INFO("hello");
    EXPECT_EQ(records_of(content(path()) + "]").back()["name"], "hello");
  });
}

// A killed process's write ends at the end of a page, if not where it should.
TEST_F(ChromeFile, IsMadeOfWholeRecordsUpToTheEndOfEveryPage) {
  auto [layer, guard] = chrome_layer({.path = path()});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [] {
    for (int i = 0; i < 600; ++i) {
      TRACE_INFO("record", tracing::kv("i", i), tracing::kv("text", std::string(static_cast<std::size_t>(i % 97), 'x')));
    }
  });
  guard = {};
  std::string const text = content(path());
  ASSERT_GT(text.size(), 20 * 4096U);
  for (std::size_t end = 4096; end < text.size(); end += 4096) {
    EXPECT_TRUE(Json::accept(text.substr(0, end) + "]")) << "at " << end;
  }
  EXPECT_EQ(records_of(text).size(), 602U);
}

TEST_F(ChromeFile, StartsNewOnesThatNameTheThreadsAgain) {
  auto [layer, guard] = chrome_layer({.path = path("1.json")});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    TRACE_INFO("first");
    EXPECT_FALSE(guard.start_new(path("2.json")));
    EXPECT_EQ(guard.path(), path("2.json"));
    EXPECT_EQ(records_of(content(path("1.json"))).size(), 3U);
    TRACE_INFO("second");
    EXPECT_EQ(guard.start_new(folder_).value(), EISDIR);  // and it goes on
    TRACE_INFO("third");
  });
  guard = {};
  auto const records = records_of(content(path("2.json")));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[1]["args"]["name"], "main");
  EXPECT_EQ(records[2]["name"], "second");
  EXPECT_GT(records[2]["ts"], 0);
}

TEST_F(ChromeFile, StartsANewOneInASink) {
  std::string text;
  auto [layer, guard] = chrome_layer({.path = path()});
  guard.start_new(into(text));
  EXPECT_EQ(guard.path(), "");
  with_default(RegistryBuilder().with(std::move(layer)).build(), emit_a_little);
  guard = {};
  EXPECT_EQ(records_of(content(path())).size(), 1U);
  EXPECT_EQ(records_of(text).size(), 7U);
}

TEST_F(ChromeFile, IsMadeWhenItIsStartedAndCompleteWhenItIsStopped) {
  auto [layer, guard] = chrome_layer({.path = path("never.json"), .started = false});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    TRACE_INFO("before");
    EXPECT_FALSE(fs::exists(path("never.json")));
    EXPECT_FALSE(guard.start_new(path("1.json")));
    TRACE_INFO("first");
    guard.stop();
    EXPECT_EQ(guard.path(), "");
    EXPECT_EQ(records_of(content(path("1.json"))).size(), 3U);
    TRACE_INFO("between");
    EXPECT_FALSE(guard.start_new(path("2.json")));
    TRACE_INFO("second");
  });
  guard = {};
  EXPECT_EQ(records_of(content(path("1.json"))).back()["name"], "first");
  auto const records = records_of(content(path("2.json")));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records.back()["name"], "second");
}

TEST_F(ChromeFile, HasANameOfItsOwnWhereNoneIsGiven) {
  fs::path const before = fs::current_path();
  fs::current_path(folder_);
  {
    auto [layer, guard] = chrome_layer();
    EXPECT_TRUE(std::regex_match(guard.path(), std::regex("trace-[0-9]{16}\\.json"))) << guard.path();
    EXPECT_TRUE(fs::exists(folder_ / guard.path()));
  }
  fs::current_path(before);
}

TEST_F(ChromeFile, ThatCannotBeMadeIsToldAndNothingElse) {
  for (std::string const& bad : {folder_.string(), path("no/such/folder.json")}) {
    ::testing::internal::CaptureStderr();
    auto [layer, guard] = chrome_layer({.path = bad});
    with_default(RegistryBuilder().with(std::move(layer)).build(), emit_a_little);
    std::error_code const error = guard.error();
    EXPECT_TRUE(error);
    guard = {};
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "tracing: cannot write the trace " + bad + ": " + error.message() + "\n");
  }
}

TEST_F(ChromeFile, ThatCannotBeMadeLaterIsAnErrorUntilThereIsOne) {
  auto [layer, guard] = chrome_layer({.started = false, .complain_to = -1});
  EXPECT_FALSE(guard.error());
  EXPECT_EQ(guard.start_new(folder_).value(), EISDIR);
  EXPECT_EQ(guard.error().value(), EISDIR);
  EXPECT_FALSE(guard.start_new(path()));
  EXPECT_FALSE(guard.error());
  EXPECT_EQ(guard.start_new(folder_).value(), EISDIR);
  EXPECT_FALSE(guard.error());
  EXPECT_EQ(guard.path(), path());
}

TEST_F(ChromeFile, BelongsToTheOneThatBeganItLast) {
  auto older = chrome_layer({.path = path()});
  auto newer = chrome_layer({.path = path()});
  with_default(RegistryBuilder().with(std::move(older.first)).with(std::move(newer.first)).build(), [&] {
    TRACE_INFO("one");
    older.second.flush();
    newer.second.flush();
    TRACE_INFO("two");
  });
  newer.second = {};
  older.second = {};
  EXPECT_EQ(records_of(content(path())).size(), 4U);
}

TEST_F(ChromeFile, IsComplainedAboutWhereThatIsAsked) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ::testing::internal::CaptureStderr();
  for (int const descriptor : {ends[1], -1}) {
    auto [layer, guard] = chrome_layer({.path = folder_, .complain_to = descriptor});
    EXPECT_EQ(guard.error().value(), EISDIR);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  close(ends[1]);
  char told[500];
  ssize_t const size = read(ends[0], told, sizeof(told));
  close(ends[0]);
  EXPECT_EQ(std::string(told, static_cast<std::size_t>(std::max<ssize_t>(size, 0))),
            "tracing: cannot write the trace " + folder_.string() + ": Is a directory\n");
}

TEST_F(ChromeFile, LongerThanTheSystemAllowsLosesWholeRecordsAndSaysSo) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  ::testing::internal::CaptureStderr();  // which needs no file that grows
  rlimit const small{10'000, old.rlim_max};
  std::uint64_t dropped = 0;
  {
    auto [layer, guard] = chrome_layer({.path = path(), .write_through = true});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    with_default(RegistryBuilder().with(std::move(layer)).build(), [] {
      for (int i = 0; i < 1000; ++i) TRACE_INFO("record", tracing::kv("i", i));
    });
    dropped = guard.dropped();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  }
  std::string const told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "tracing: cannot write the trace " + path() + ": File too large\ntracing: " + std::to_string(dropped) +
                      " records are missing in the trace " + path() + "\n");
  auto const records = records_of(content(path()));  // closed, as there is room again
  EXPECT_GT(dropped, 900U);
  EXPECT_EQ(records.size() - 2 + dropped, 1000U);
}

TEST_F(ChromeFile, TakesLargeAndHostileTexts) {
  std::string const large(std::size_t{1} << 20, 'x');
  std::string const hostile("\xff\xc0\n\r\t\"\\\0 \x1b]", 11);
  auto [layer, guard] = chrome_layer({.path = path(), .include_locations = false});
  RuntimeCallsite const span({.kind = Kind::span, .name = hostile, .target = hostile, .fields = {"large", hostile}});
  Value const values[] = {Value::of_text(large), Value::of_text(hostile)};
  with_default(RegistryBuilder().with(std::move(layer)).build(),
               [&] { auto const made = Span::make(span.callsite(), values).entered(); });
  guard = {};
  auto const records = records_of(content(path()));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[2]["args"]["large"], large);
  EXPECT_EQ(records[2]["name"], std::string("\xef\xbf\xbd\xef\xbf\xbd\n\r\t\"\\\0 \x1b]", 15));
  EXPECT_EQ(records[2]["args"].size(), 2U);
}

TEST_F(ChromeFile, BelongsToTheParentAlone) {
  auto [layer, guard] = chrome_layer({.path = path(), .write_through = true});
  auto const registry = RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, [&, &guard = guard] {
    TRACE_INFO("parent");
    pid_t const child = fork();
    if (child == 0) {
      alarm(20);
      TRACE_INFO("child");
      guard.flush();
      (void)guard.start_new(path("child.json"));
      guard = {};
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    TRACE_INFO("parent again");
  });
  guard = {};
  std::string const text = content(path());
  EXPECT_EQ(records_of(text).size(), 4U);
  EXPECT_EQ(text.find("child"), text.npos);
}

TEST_F(ChromeFile, OfAForkedChildHasItsOwnNumbers) {
  trace({}, [] { TRACE_INFO("the parent's thread has a number by now"); });
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    {
      auto [layer, guard] = chrome_layer({.path = path()});
      with_default(RegistryBuilder().with(std::move(layer)).build(), [] { TRACE_INFO("child"); });
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (Json const& record : records_of(content(path()))) {
    EXPECT_EQ(record["pid"], child) << record;
    EXPECT_EQ(record["tid"], child) << record;
  }
}

TEST_F(ChromeFile, AChildForkedWhileThreadsWriteNeverHangs) {
  auto [layer, guard] = chrome_layer({.path = "/dev/null"});
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, [&, &guard = guard] {
    std::atomic<bool> stop{false};
    std::thread other([&] {
      with_default(registry, [&] {
        while (!stop) TRACE_INFO("other");
      });
    });
    for (int i = 0; i < 20; ++i) {
      pid_t const child = fork();
      if (child == 0) {
        alarm(20);
        TRACE_INFO("child");
        guard = {};
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    stop = true;
    other.join();
  });
}

}  // namespace
}  // namespace tracing
