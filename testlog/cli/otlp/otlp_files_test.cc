// `testlog export --otlp` of many recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "testlog/cli/command_test_support.h"
#include "tests/support/record_to.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;

// Exports the recordings in a folder to nowhere. Returns the most memory that the command took, in KiB.
long memory_of_export(std::string const& recordings) {
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
    execl(TESTLOG_COMMAND, TESTLOG_COMMAND, "export", recordings.c_str(), "--otlp", "-", nullptr);
    _exit(127);
  }
  int status = -1;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
  return used.ru_maxrss;
}

TEST(OtlpFiles, TakeTheMemoryOfOneRecording) {
#if TESTLOG_ASAN || TESTLOG_TSAN
  GTEST_SKIP() << "sanitizers keep memory that was freed";
#endif
  constexpr int kCopies = 40;
  tracing_test::TemporaryFolder const folder;
  auto const path = tracing_test::record_to({.path = folder / "run.rec"}, [] {
    std::string const text(4000, 'x');
    for (int i = 0; i < 250; ++i) {
      TRACE_SPAN(info, "step", i, text);
    }
  });
  for (std::string const name : {"one", "many"}) fs::create_directory(folder / name);
  fs::copy_file(path, folder / "one/run.rec");
  for (int i = 0; i < kCopies; ++i) fs::copy_file(path, folder / ("many/" + std::to_string(i) + ".rec"));
  long const one = memory_of_export(folder / "one"), many = memory_of_export(folder / "many");
  EXPECT_LT(many, one + kCopies * 1000 / 2) << "each recording has 1000 KB";
}

TEST(OtlpFiles, LeaveOutARecordingThatCannotBeRead) {
  tracing_test::TemporaryFolder const folder;
  tracing_test::record_to({.path = folder / "a.rec"}, [] { TRACE_SPAN(info, "first"); });
  std::ofstream(folder / "b.rec") << "no recording";
  tracing_test::record_to({.path = folder / "c.rec"}, [] { TRACE_SPAN(info, "last"); });
  Outcome const outcome = run_command("export", {folder / "", "--otlp", folder / "spans.jsonl"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("b.rec: "));
  EXPECT_THAT(content_of(folder / "spans.jsonl"), HasSubstr("\"first\""));
  EXPECT_THAT(content_of(folder / "spans.jsonl"), HasSubstr("\"last\""));
}

}  // namespace
