// How folded lines come to writers and files, from many threads and processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_file.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/flame_test_support.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/tracing.h"

namespace flame_test {

using tracing_test::TemporaryFile;

TEST(FlameLayer, HandsOnBlocksOfWholeLines) {
  Recorder recorder({.buffered_bytes = 300});
  tracing::with_default(recorder.registry, [] {
    for (int i = 0; i < 40; ++i) outer_and_inner();
  });
  recorder.guard.flush();
  ASSERT_GT(recorder.blocks.size(), 10U);
  for (std::string const& block : recorder.blocks) {
    EXPECT_LE(block.size(), 300U);
    EXPECT_EQ(block.back(), '\n');
  }
  EXPECT_EQ(parse(recorder.text).size(), 160U);

  Recorder at_once({.buffered_bytes = 0});
  tracing::with_default(at_once.registry, outer_and_inner);
  EXPECT_EQ(at_once.blocks.size(), 4U);
}

TEST(FlameLayer, WritesToSinksOfSpdlogAndByLevelAndTarget) {
  auto const stream = std::make_shared<std::ostringstream>();
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*stream);
  sink->set_pattern("%v");
  std::string of_target;
  auto chosen = tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { of_target += t; }));
  chosen = tracing::with_filter(std::move(chosen), [](tracing::Metadata const& m) {
    return m.target() == "tracing::flame" && m.name() == "flame" && m.level() == tracing::Level::info;
  });
  auto [layer, guard] = flame_layer(tracing::tee(tracing::to_sink(std::move(sink)), std::move(chosen)));
  tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), outer_and_inner);
  guard.flush();
  EXPECT_EQ(parse(stream->str()).size(), 4U);
  EXPECT_EQ(of_target, stream->str());
}

TEST(FlameLayer, IsNoneWithoutAWriter) {
  auto [layer, guard] = flame_layer(tracing::WriterPtr());
  EXPECT_EQ(layer, nullptr);
  guard.flush();
  EXPECT_EQ(guard.dropped_lines(), 0U);
}

TEST(FlameLayer, DropsWhatItsWriterEmits) {
  auto [layer, guard] = flame_layer(
      tracing::to_sink(tracing::make_sink([](tracing::Level, std::string_view) { TRACE_SPAN(info, "writing"); })));
  tracing::ScopedDefault const scope(RegistryBuilder().with(std::move(layer)).build());
  outer_and_inner();
  guard.flush();
  { auto const gone = std::move(guard); }
  outer_and_inner();
}

TEST(FlameLayer, KeepsErrno) {
  Recorder recorder({.buffered_bytes = 0});
  tracing::with_default(recorder.registry, [] {
    errno = 42;
    outer_and_inner();
    EXPECT_EQ(errno, 42);
  });
}

TEST(FlameGuard, HasTheLinesWrittenWhenItIsDestroyedAndLaterOnesAtOnce) {
  Recorder recorder;
  tracing::with_default(recorder.registry, [&] {
    outer_and_inner();
    EXPECT_EQ(recorder.text, "");
    recorder.guard = tracing::FlameGuard();
    EXPECT_EQ(parse(recorder.text).size(), 4U);
    outer_and_inner();
    EXPECT_EQ(parse(recorder.text).size(), 8U);
    EXPECT_EQ(recorder.blocks.size(), 5U);
  });
}

// A line may be in the making while the guard writes those that are there. Copying such a long one takes a while.
TEST(FlameGuard, LeavesNoLineBehindThatAThreadAddsWhileItIsDestroyed) {
  constexpr int kRounds = 400;
  std::string const name(20'000, 'a');
  tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = name});
  std::unique_ptr<Recorder> recorder;
  auto const record = [&](int spans) {
    tracing::with_default(recorder->registry, [&] {
      for (int i = 0; i < spans; ++i) (void)tracing::Span::make(callsite.callsite(), nullptr).entered();
    });
  };
  std::atomic<int> ready{0}, begun{0}, ended{0};
  std::thread thread([&] {
    for (int round = 1; round <= kRounds; ++round) {
      recorder = std::make_unique<Recorder>();
      record(3);  // there is room for the lines now
      recorder->guard.flush();
      ready = round;
      while (begun != round) std::this_thread::yield();
      record(2);
      ended = round;
      while (ready == round && begun == round) std::this_thread::yield();
    }
  });
  int missing = 0;
  for (int round = 1; round <= kRounds; ++round) {
    while (ready != round) std::this_thread::yield();
    begun = round;
    auto const moment = std::chrono::steady_clock::now() + std::chrono::nanoseconds(round % 100 * 200);
    while (std::chrono::steady_clock::now() < moment) {
    }
    recorder->guard = {};
    while (ended != round) std::this_thread::yield();
    missing += std::count(recorder->text.begin(), recorder->text.end(), '\n') != 10;
    begun = -round;
  }
  thread.join();
  EXPECT_EQ(missing, 0);
}

TEST(FlameLayer, HasTheLinesWrittenWhenItIsDestroyed) {
  Recorder recorder;
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry->flush();
  EXPECT_EQ(parse(recorder.text).size(), 4U);
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry = nullptr;
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, TakesLinesOfManyThreads) {
  constexpr std::size_t kThreads = 64;
  constexpr std::size_t kRounds = 100;
  Recorder recorder({.buffered_bytes = 1000});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      tracing::with_default(recorder.registry, [] {
        for (std::size_t i = 0; i < kRounds; ++i) outer_and_inner();
      });
    });
  }
  for (std::size_t i = 0; i < 100; ++i) recorder.guard.flush();
  for (std::thread& thread : threads) thread.join();
  recorder.guard.flush();
  std::map<std::string, std::size_t> count;
  for (std::string const& stack : stacks(recorder.text)) ++count[stack];
  EXPECT_EQ(count.size(), 3 * kThreads);
  for (auto const& [stack, times] : count) {
    EXPECT_EQ(times, stack.ends_with(";flame_test::outer") ? 2 * kRounds : kRounds) << stack;
  }
  EXPECT_EQ(recorder.guard.dropped_lines(), 0U);
}

TEST(FlameLayer, NamesEachThreadThatComesAfterAnother) {
  Recorder recorder({.module_path = false});
  for (char const* name : {"first", "second;one", ""}) {
    std::thread([&] {
      tracing::set_thread_name(name);
      tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "a"); });
    }).join();
  }
  recorder.guard.flush();
  std::string roots;
  for (std::string const& stack : stacks(recorder.text)) {
    if (!stack.ends_with(";a")) roots += stack.substr(stack.find(')') + 1) + "|";
  }
  EXPECT_EQ(roots, "-first|-second:one||");
}

TEST(FlameLayer, WritesLinesOfThreadsThatTakeTurnsInTheOrderOfTime) {
  Recorder recorder({.module_path = false});
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      tracing::set_thread_name(("t" + std::to_string(i % 7)).c_str());
      tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "a"); });
    }).join();
    tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "b"); });
    expected += "-t" + std::to_string(i % 7) + "|-t" + std::to_string(i % 7) + ";a|-main|-main;b|";
  }
  recorder.guard.flush();
  std::string got;
  for (std::string const& stack : stacks(recorder.text)) got += stack.substr(stack.find(')') + 1) + "|";
  EXPECT_EQ(got, expected);
}

// Runs `f()` in a child; its exit status, or 1000 and the signal that ended it.
template <class F>
int in_child(F&& f) {
  pid_t const child = fork();
  if (child == 0) {
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Records to a file as a whole program would.
void record_to(char const* path, FlameOptions const& options = {}, int rounds = 1) {
  std::error_code error;
  auto [layer, guard] = flame_layer(path, error, options);
  tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), [rounds] {
    for (int i = 0; i < rounds; ++i) outer_and_inner();
  });
}

TEST(FlameLayer, AppendsToAFile) {
  TemporaryFile const file;
  record_to(file.path());
  std::string const first = file.text();
  EXPECT_EQ(parse(first).size(), 4U);
  record_to(file.path());
  EXPECT_TRUE(file.text().starts_with(first));
  EXPECT_EQ(parse(file.text()).size(), 8U);
}

TEST(FlameLayer, BeginsALineBehindOneThatBrokeOff) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "main;a 3\nmain;a;b";
  record_to(file.path());
  std::string const text = file.text();
  ASSERT_TRUE(text.starts_with("main;a 3\nmain;a;b (cut)\nThreadId(")) << text;
  EXPECT_EQ(parse(text.substr(24)).size(), 4U);
}

TEST(FlameLayer, SaysWhyAFileCannotBeOpened) {
  for (char const* path : {"/tmp", "/no/such/folder/file", ""}) {
    std::error_code error;
    auto [layer, guard] = flame_layer(path, error);
    EXPECT_EQ(layer, nullptr) << path;
    EXPECT_TRUE(error) << path;
  }
}

TEST(FlameLayer, SharesAFileWithOtherProcesses) {
  TemporaryFile const file;
  constexpr int kProcesses = 4;
  constexpr int kRounds = 300;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      record_to(file.path(), {.threads_collapsed = true, .buffered_bytes = 500}, kRounds);
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t const child : children) waitpid(child, nullptr, 0);
  std::map<std::string, int> count;
  for (std::string const& stack : stacks(file.text())) ++count[stack];
  EXPECT_EQ(count,
            (std::map<std::string, int>{{"all-threads", kProcesses * kRounds},
                                        {"all-threads;flame_test::outer", 2 * kProcesses * kRounds},
                                        {"all-threads;flame_test::outer;flame_test::inner", kProcesses * kRounds}}));
}

TEST(FlameLayer, WritesNothingInAForkedChild) {
  Recorder recorder;
  tracing::ScopedDefault const scope(recorder.registry);
  outer_and_inner();
  EXPECT_EQ(in_child([&] {
              for (int i = 0; i < 10'000; ++i) outer_and_inner();
              recorder.guard.flush();
              recorder.registry->flush();
              recorder.guard = tracing::FlameGuard();
              _exit(recorder.text.empty() ? 7 : 8);
            }),
            7);
  // A recording of its own works.
  TemporaryFile const file;
  EXPECT_EQ(in_child([&] { record_to(file.path()); }), 0);
  EXPECT_EQ(parse(file.text()).size(), 4U);
  outer_and_inner();
  recorder.guard.flush();
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, GoesOnWhenTheDiskIsFull) {
  testing::internal::CaptureStderr();
  record_to("/dev/full", {.buffered_bytes = 0}, 10);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tracing: cannot write to /dev/full: No space left on device; further failures are only counted\n");
}

TEST(FlameLayer, SurvivesTheLimitOfAFilesSize) {
  TemporaryFile const file;
  EXPECT_EQ(in_child([&] {
              close(2);
              rlimit const limit{1000, 1000};
              setrlimit(RLIMIT_FSIZE, &limit);
              record_to(file.path(), {.buffered_bytes = 300}, 50);
              record_to(file.path(), {}, 50);
              sigset_t pending;
              sigpending(&pending);
              _exit(sigismember(&pending, SIGXFSZ));
            }),
            0);
  std::string const text = file.text();
  EXPECT_GT(text.size(), 700U);
  EXPECT_LE(text.size(), 1000U);
  EXPECT_GT(parse(text.substr(0, text.rfind('\n') + 1)).size(), 10U);
}

TEST(FlameLayer, LeavesWholeLinesWhenItIsKilled) {
  for (int i = 0; i < 30; ++i) {
    TemporaryFile const file;
    pid_t const child = fork();
    if (child == 0) {
      record_to(file.path(), {.buffered_bytes = 400}, 100'000'000);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string const text = file.text();
    parse(text.substr(0, text.rfind('\n') + 1));  // at most the last line is broken
  }
}

}  // namespace flame_test
