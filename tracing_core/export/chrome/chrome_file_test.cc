// The files of Chrome traces: when they are created, complete and replaced, and what a forked child does.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/chrome/chrome_test_support.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace chrome_test;

class ChromeFile : public ::testing::Test {
 protected:
  std::string path(char const* name = "trace.json") const { return folder_ / name; }
  std::string content(char const* name = "trace.json") const { return folder_.read(name); }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(ChromeFile, IsCompleteWhenTheGuardIsDestroyed) {
  std::ofstream(path()) << "the content of an older file";
  auto [layer, guard] = chrome_layer({.path = path()});
  EXPECT_EQ(guard.path(), path());
  EXPECT_FALSE(guard.error());
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    emit_a_little();
    guard = {};
    TRACE_INFO("too late");
  });
  std::string const text = content();
  EXPECT_TRUE(text.ends_with("\n]\n")) << text;
  EXPECT_EQ(records_of(text).size(), 7U);
  EXPECT_EQ(text.find("too late"), text.npos);
}

// Returns the number of the descriptor that is open for a file.
int descriptor_of(std::string const& file) {
  for (auto const& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored) == file) return std::stoi(entry.path().filename());
  }
  return -1;
}

TEST_F(ChromeFile, WritesNothingToAFileThatReusesItsDescriptor) {
  std::ofstream(path("other")) << "precious";
  auto [layer, guard] = chrome_layer({.path = path()});
  int const number = descriptor_of(path());
  ASSERT_GE(number, 0);
  std::string const before = content();
  int const other = open(path("other").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(dup2(other, number), number);
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    emit_a_little();
    guard = {};
  });
  EXPECT_EQ(content("other"), "precious");
  EXPECT_EQ(content(), before);
  EXPECT_EQ(close(number), 0) << "it was closed";
  close(other);
}

TEST_F(ChromeFile, HasAllRecordsWhenFlushed) {
  auto [layer, guard] = chrome_layer({.path = path()});
  EXPECT_EQ(records_of(content() + "]").size(), 1U);
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, emit_a_little);
  guard.flush();
  EXPECT_FALSE(guard.is_behind());
  EXPECT_EQ(records_of(content() + "]").size(), 7U);
}

// Returns true as soon as `condition()` does, and false if it does not within `limit`.
template <class F>
bool comes_true_within(std::chrono::milliseconds limit, F&& condition) {
  auto const end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// The age of records is simulated, so a slow machine does not make them old.
class SimulatedTime {
 public:
  SimulatedTime() { pass(1s); }
  SimulatedTime(SimulatedTime const&) = delete;
  SimulatedTime& operator=(SimulatedTime const&) = delete;
  ~SimulatedTime() { support::simulate_time(0); }
  void pass(std::chrono::nanoseconds time) {
    support::simulate_time(support::simulated_ns + static_cast<std::uint64_t>(time.count()));
  }
};

TEST_F(ChromeFile, HoldsUpAThreadWhoseRecordsAreTooOld) {
  SimulatedTime time;
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
      TRACE_INFO("second");  // its first record is not too old yet
      recorded = 2;
      time.pass(200ms);
      TRACE_INFO("third");  // returns after `go_on`
      recorded = 3;
    });
  });
  EXPECT_TRUE(comes_true_within(60s, [&] { return recorded >= 2; }));
  // A thread that is not held up records at once. On a slow machine it may be late, but a thread that is held up never
  // records.
  EXPECT_FALSE(comes_true_within(200ms, [&] { return recorded == 3; }));
  EXPECT_TRUE(guard.is_behind());
  go_on = true;
  recorder.join();
  EXPECT_EQ(recorded, 3);
  EXPECT_TRUE(comes_true_within(60s, [&, &guard = guard] { return !guard.is_behind(); }));
}

TEST_F(ChromeFile, HasEachRecordAtOnceIfWrittenThrough) {
  auto [layer, guard] = chrome_layer({.path = path(), .write_through = true});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&] {
    TRACE_INFO("hello");
    EXPECT_EQ(records_of(content() + "]").back()["name"], "hello");
  });
}

TEST_F(ChromeFile, NamesTheThreadsAgainInEachNewFile) {
  auto [layer, guard] = chrome_layer({.path = path("1.json")});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    TRACE_INFO("first");
    EXPECT_FALSE(guard.start_new(path("2.json")));
    EXPECT_EQ(guard.path(), path("2.json"));
    EXPECT_EQ(records_of(content("1.json")).size(), 3U);
    TRACE_INFO("second");
    EXPECT_EQ(guard.start_new(path("")).value(), EISDIR);  // and continues in the current file
    TRACE_INFO("third");
  });
  guard = {};
  auto const records = records_of(content("2.json"));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[1]["args"]["name"], "main");
  EXPECT_EQ(records[2]["name"], "second");
  EXPECT_GT(records[2]["ts"], 0);
}

TEST_F(ChromeFile, IsCreatedWhenStartedAndCompleteWhenStopped) {
  auto [layer, guard] = chrome_layer({.path = path("never.json"), .started = false});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&, &guard = guard] {
    TRACE_INFO("before");
    EXPECT_FALSE(fs::exists(path("never.json")));
    EXPECT_FALSE(guard.start_new(path("1.json")));
    TRACE_INFO("first");
    guard.stop();
    EXPECT_EQ(guard.path(), "");
    EXPECT_EQ(records_of(content("1.json")).size(), 3U);
    TRACE_INFO("between");
    EXPECT_FALSE(guard.start_new(path("2.json")));
    TRACE_INFO("second");
  });
  guard = {};
  EXPECT_EQ(records_of(content("1.json")).back()["name"], "first");
  auto const records = records_of(content("2.json"));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records.back()["name"], "second");
}

TEST_F(ChromeFile, ReportsAFileThatCannotBeCreated) {
  for (std::string const& bad : {path(""), path("no/such/folder.json")}) {
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

TEST_F(ChromeFile, BelongsToTheLastLayerThatOpenedIt) {
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
  EXPECT_EQ(records_of(content()).size(), 4U);
}

TEST_F(ChromeFile, IsNotWrittenByAForkedChild) {
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
  std::string const text = content();
  EXPECT_EQ(records_of(text).size(), 4U);
  EXPECT_EQ(text.find("child"), text.npos);
}

TEST_F(ChromeFile, DoesNotHangInAChildForkedWhileThreadsWrite) {
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

}}  // namespace tracing
