// Writing folded lines to writers and files, from several threads and processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_file.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/flame/flame_test_support.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/tracing.h"

namespace flame_test {

using tracing_test::TemporaryFile;

TEST(FlameLayer, WritesBlocksOfCompleteLines) {
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

TEST(FlameLayer, DiscardsRecordsThatItsWriterEmits) {
  std::string text;
  auto [layer, guard] =
      flame_layer(tracing::to_sink(tracing::make_sink([&text](tracing::Level, std::string_view lines) {
        TRACE_SPAN(info, "writing");
        text += lines;
      })));
  tracing::ScopedDefault const scope(RegistryBuilder().with(std::move(layer)).build());
  outer_and_inner();
  guard.flush();
  { auto const gone = std::move(guard); }
  outer_and_inner();
  EXPECT_EQ(parse(text).size(), 8U);
  EXPECT_EQ(text.find("writing"), text.npos) << text;
}

TEST(FlameGuard, WritesTheLinesWhenItIsDestroyedAndLaterOnesAtOnce) {
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

TEST(FlameLayer, WritesTheLinesWhenItIsDestroyed) {
  Recorder recorder;
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry->flush();
  EXPECT_EQ(parse(recorder.text).size(), 4U);
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry = nullptr;
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, NamesEachThreadThatFollowsAnother) {
  Recorder recorder({.module_path = false});
  for (char const* name : {"first", "second;one", ""}) {
    std::thread([&] {
      tracing::set_thread_name(name);
      tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "a"); });
    }).join();
  }
  recorder.guard.flush();
  std::multiset<std::string> roots;
  for (std::string const& stack : stacks(recorder.text)) {
    if (!stack.ends_with(";a")) roots.insert(stack.substr(stack.find(')') + 1));
  }
  EXPECT_EQ(roots, (std::multiset<std::string>{"-first", "-second:one", ""}));
}

// Returns the exit status of a child that runs `f()`, or 1000 plus the number of the signal that ended the child.
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

// Records to a file as a program would.
void record_to(char const* path, FlameOptions const& options = {}, int rounds = 1) {
  std::error_code error;
  auto [layer, guard] = flame_layer(path, error, options);
  tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), [rounds] {
    for (int i = 0; i < rounds; ++i) outer_and_inner();
  });
}

TEST(FlameLayer, ReplacesAFileUnlessItIsToAppend) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "main;a 3\nmain;a;b";
  record_to(file.path());
  std::string const first = file.text();
  EXPECT_TRUE(first.starts_with("ThreadId(")) << first;
  EXPECT_EQ(parse(first).size(), 4U);
  record_to(file.path(), {.append = true});
  EXPECT_TRUE(file.text().starts_with(first));
  EXPECT_EQ(parse(file.text()).size(), 8U);
}

TEST(FlameLayer, StartsANewLineAfterABrokenOne) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "main;a 3\nmain;a;b";
  record_to(file.path(), {.append = true});
  std::string const text = file.text();
  ASSERT_TRUE(text.starts_with("main;a 3\nmain;a;b (cut)\nThreadId(")) << text;
  EXPECT_EQ(parse(text.substr(24)).size(), 4U);
}

TEST(FlameLayer, ReportsWhyAFileCannotBeOpened) {
  for (char const* path : {"/tmp", "/no/such/folder/file", ""}) {
    std::error_code error;
    auto [layer, guard] = flame_layer(path, error, {.error_fd = -1});
    EXPECT_EQ(layer, nullptr) << path;
    EXPECT_TRUE(error) << path;
  }
  testing::internal::CaptureStderr();
  auto const [layer, guard] = tracing::flame_layer("/no/such/folder/run.folded");
  EXPECT_EQ(layer, nullptr);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "tracing: cannot open /no/such/folder/run.folded: No such file or directory; no folded stacks are written\n");
}

TEST(FlameLayer, WritesToADevice) { EXPECT_NE(tracing::flame_layer("/dev/null").first, nullptr); }

TEST(FlameLayer, SharesAFileWithOtherProcesses) {
  TemporaryFile const file;
  constexpr int kProcesses = 4;
  constexpr int kRounds = 300;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      record_to(file.path(), {.threads_collapsed = true, .buffered_bytes = 500, .append = true}, kRounds);
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
  // A child may record to a file of its own.
  TemporaryFile const file;
  EXPECT_EQ(in_child([&] { record_to(file.path()); }), 0);
  EXPECT_EQ(parse(file.text()).size(), 4U);
  outer_and_inner();
  recorder.guard.flush();
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, ReportsAFullDiskAndContinues) {
  testing::internal::CaptureStderr();
  record_to("/dev/full", {.buffered_bytes = 0}, 10);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tracing: cannot write to /dev/full: No space left on device; further failures are only counted\n");
}

}  // namespace flame_test
