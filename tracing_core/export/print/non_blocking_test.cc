#include "tracing_core/export/non_blocking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

// Keeps its lines, and blocks in write() while it is closed.
class Gate final : public LineSink {
 public:
  explicit Gate(bool joins = false) : joins_(joins) {}
  bool takes_joined_lines() const noexcept override { return joins_; }
  void write(Level level, std::string_view text) noexcept override {
    std::unique_lock lock(mutex_);
    ++arrived_;
    writes_.push_back({level, text.size()});
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    text_ += text;
  }
  void flush() noexcept override {
    std::lock_guard const lock(mutex_);
    text_ += "(flush)";
  }
  void close() {
    std::lock_guard const lock(mutex_);
    open_ = false;
  }
  void open() {
    std::lock_guard const lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_a_line() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ > 0; });
  }
  std::string text() {
    std::lock_guard const lock(mutex_);
    return text_;
  }
  // The level and size of each call of write().
  std::vector<std::pair<Level, std::size_t>> writes() {
    std::lock_guard const lock(mutex_);
    return writes_;
  }

 private:
  bool const joins_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int arrived_ = 0;
  std::string text_;
  std::vector<std::pair<Level, std::size_t>> writes_;
};

void write_numbers(LineSink& sink, int from, int to) {
  for (int i = from; i < to; ++i) sink.write(Level::info, std::to_string(i) + "\n");
}

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(NonBlockingSink, WritesEveryLineInOrderBeforeItsGuardIsDestroyed) {
  auto const gate = std::make_shared<Gate>();
  {
    auto const [sink, guard] = non_blocking(gate);
    write_numbers(*sink, 0, 20'000);
  }
  EXPECT_EQ(gate->text(), numbers(0, 20'000) + "(flush)");
}

TEST(NonBlockingSink, JoinsWaitingLinesUpTo4096BytesForASinkThatTakesThem) {
  auto const gate = std::make_shared<Gate>(/*joins=*/true);
  gate->close();
  auto const [sink, guard] = non_blocking(gate);
  sink->write(Level::info, "first\n");
  gate->wait_for_a_line();  // the other lines wait behind this call
  sink->write(Level::warn, std::string(4000, 'a'));
  sink->write(Level::info, std::string(96, 'b'));
  sink->write(Level::info, "c");
  sink->write(Level::error, std::string(5000, 'd'));  // is never joined
  sink->write(Level::info, "e");
  gate->open();
  sink->flush();
  EXPECT_EQ(gate->text(),
            "first\n" + std::string(4000, 'a') + std::string(96, 'b') + "c" + std::string(5000, 'd') + "e(flush)");
  std::vector<std::pair<Level, std::size_t>> const expected{
      {Level::info, 6}, {Level::warn, 4096}, {Level::info, 1}, {Level::error, 5000}, {Level::info, 1}};
  EXPECT_EQ(gate->writes(), expected);
}

TEST(NonBlockingSink, PassesLinesOneByOneToASinkThatDoesNotTakeJoinedLines) {
  auto const gate = std::make_shared<Gate>();
  gate->close();
  auto const [sink, guard] = non_blocking(gate);
  write_numbers(*sink, 0, 5);
  gate->open();
  sink->flush();
  EXPECT_EQ(gate->writes().size(), 5U);
}

TEST(NonBlockingSink, CountsAndReportsLinesDroppedByAFullQueue) {
  auto const gate = std::make_shared<Gate>();
  gate->close();
  auto [sink, guard] = non_blocking(gate, {.buffered_lines = 10});
  write_numbers(*sink, 0, 17);
  EXPECT_EQ(sink->dropped(), 7U);
  gate->open();
  sink->flush();
  std::string const dropped = "tracing: 7 lines dropped: the writing thread's queue was full\n";
  EXPECT_EQ(gate->text(), numbers(0, 10) + dropped + "(flush)");
  write_numbers(*sink, 17, 20);
  guard = {};
  EXPECT_EQ(gate->text(), numbers(0, 10) + dropped + "(flush)" + numbers(17, 20) + "(flush)") << "it is reported once";
  EXPECT_EQ(sink->dropped(), 7U);
}

TEST(NonBlockingSink, ReportsDroppedLinesByAppendDropped) {
  auto const gate = std::make_shared<Gate>();
  gate->close();
  NonBlockingOptions options{.buffered_lines = 1};
  options.append_dropped = [](TextBuffer& out, std::uint64_t count) noexcept {
    out.append("{\"dropped_lines\":");
    out.append_uint(count);
    out.append("}\n");
  };
  auto const [sink, guard] = non_blocking(gate, options);
  write_numbers(*sink, 0, 3);
  gate->open();
  sink->flush();
  EXPECT_EQ(gate->text(), "0\n{\"dropped_lines\":2}\n(flush)");
}

TEST(NonBlockingSink, HoldsAtMostBufferedBytes) {
  auto const gate = std::make_shared<Gate>();
  gate->close();
  auto const [sink, guard] = non_blocking(gate, {.buffered_bytes = 1000});
  std::string const longer(5000, 'x');
  sink->write(Level::info, longer);  // accepted because no other line waits
  sink->write(Level::info, "too much");
  EXPECT_EQ(sink->dropped(), 1U);
  gate->open();
  sink->flush();
  for (int i = 0; i < 2; ++i) sink->write(Level::info, std::string(400, 'y'));
  sink->flush();
  EXPECT_EQ(sink->dropped(), 1U);
  EXPECT_THAT(gate->text(),
              AllOf(StartsWith(longer + "tracing: 1 line dropped"), EndsWith(std::string(800, 'y') + "(flush)")));
}

TEST(NonBlockingSink, WritesLinesOfAnyLength) {
  auto const gate = std::make_shared<Gate>();
  std::string expected;
  {
    auto const [sink, guard] = non_blocking(gate);
    for (std::size_t size : {0U, 1U, 65'000U, 65'400U, 65'536U, 70'000U, 1'000'000U, 3U}) {
      expected.append(size, static_cast<char>('a' + size % 26));
      sink->write(Level::info, std::string(size, static_cast<char>('a' + size % 26)));
    }
  }
  EXPECT_EQ(gate->text(), expected + "(flush)");
}

TEST(NonBlockingSink, WaitsForRoomIfItIsNotLossy) {
  auto const gate = std::make_shared<Gate>();
  gate->close();
  std::atomic<bool> done{false};
  auto [sink, guard] = non_blocking(gate, {.buffered_lines = 3, .lossy = false});
  std::thread writer([&, sink = sink] {
    write_numbers(*sink, 0, 1000);
    done = true;
  });
  gate->wait_for_a_line();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(done);
  gate->open();
  writer.join();
  guard = {};
  EXPECT_EQ(sink->dropped(), 0U);
  EXPECT_EQ(gate->text(), numbers(0, 1000) + "(flush)");
}

TEST(NonBlockingSink, KeepsTheOrderOfEachThread) {
  constexpr int kThreads = 4;
  constexpr int kLines = 2000;
  std::vector<std::vector<int>> seen(kThreads);
  auto const collect = make_sink([&seen](Level, std::string_view text) {  // called by the queue's thread alone
    std::istringstream in{std::string(text)};
    int thread = 0, number = 0;
    in >> thread >> number;
    seen[static_cast<std::size_t>(thread)].push_back(number);
  });
  auto [sink, guard] = non_blocking(collect, {.buffered_lines = 16, .lossy = false});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&sink = *sink, t] {
      for (int i = 0; i < kLines; ++i) sink.write(Level::info, std::to_string(t) + " " + std::to_string(i));
    });
  }
  for (auto& thread : threads) thread.join();
  guard = {};
  for (auto const& lines : seen) {
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(kLines));
    EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  }
}

TEST(NonBlockingSink, WritesToSinksOfSpdlog) {
  std::ostringstream out;
  auto const theirs = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
  theirs->set_pattern("%l|%v");
  {
    auto const [sink, guard] = non_blocking(theirs);
    sink->write(Level::warn, "first\n");
    sink->write(Level::error, "second\n");
  }
  EXPECT_EQ(out.str(), "warning|first\nerror|second\n");
}

// If they were kept, each line would produce the next one.
TEST(NonBlockingSink, DiscardsRecordsThatItsSinkEmits) {
  auto const text = std::make_shared<std::string>();  // outlives the test, as the global default does
  auto const emitting = make_sink([text](Level, std::string_view line) {
    *text += line;
    TRACE_INFO("writing");
  });
  auto [sink, guard] = non_blocking(emitting);
  PrintOptions options;
  options.format.timer = nullptr;
  options.writer = to_sink(sink);
  set_global_default(RegistryBuilder().with(print_layer(std::move(options))).build());
  TRACE_INFO("ready");
  guard = {};
  EXPECT_EQ(*text, " INFO tracing: ready\n");
}

// ---- forks ----

std::string read_all(int descriptor) {
  std::string text;
  char room[4096];
  for (ssize_t size; (size = read(descriptor, room, sizeof(room))) > 0;)
    text.append(room, static_cast<std::size_t>(size));
  return text;
}

// Returns the exit status of a forked child that calls `f`. The child is killed if it hangs.
template <class F>
int status_of_child(F f) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    f();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(NonBlockingSink, WritesDirectlyInAForkedChildAndKeepsLinesOfTheParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto fd_sink = std::make_shared<FdSink>(ends[1]);
  auto const gate = std::make_shared<Gate>();
  gate->close();
  // The worker is blocked while it writes a line, and other lines wait.
  auto [sink, guard] = non_blocking(make_sink([gate, fd_sink](Level level, std::string_view text) {
    if (text.starts_with("parent")) gate->write(level, text);
    fd_sink->write(level, text);
  }));
  sink->write(Level::info, "parent 1\n");
  gate->wait_for_a_line();
  sink->write(Level::info, "parent 2\n");
  EXPECT_EQ(status_of_child([&, &sink = sink, &guard = guard] {
              sink->write(Level::info, "child\n");
              sink->flush();
              guard = {};
              sink->write(Level::info, "child again\n");
              sink = nullptr;
            }),
            0);
  gate->open();
  guard = {};
  sink = nullptr;
  fd_sink = nullptr;
  EXPECT_EQ(read_all(ends[0]), "child\nchild again\nparent 1\nparent 2\n");
  close(ends[0]);
}

TEST(NonBlockingSink, DropsLinesToSinksOfSpdlogInAForkedChild) {
  std::ostringstream out;
  auto [sink, guard] = non_blocking(std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  sink->flush();
  EXPECT_EQ(status_of_child([&, &sink = sink] {
              sink->write(Level::info, "child\n");
              sink->flush();
              if (sink->dropped() != 1 || !out.str().empty()) _exit(1);
            }),
            0);
  EXPECT_EQ(sink->dropped(), 0U);
}

TEST(NonBlockingSink, DoesNotHangInAChildForkedWhileThreadsWrite) {
  std::atomic<bool> stop{false};
  auto [sink, guard] = non_blocking(make_sink([](Level, std::string_view) {}), {.buffered_lines = 64, .lossy = false});
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, &sink = *sink] {
      while (!stop) sink.write(Level::info, "a line\n");
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(status_of_child([&, &sink = sink, &guard = guard] {
                for (int n = 0; n < 100; ++n) sink->write(Level::info, "a line\n");
                sink->flush();
                guard = {};
                sink = nullptr;
              }),
              0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

}}  // namespace tracing
