// Output when files are cut short and processes are forked.
#include "tracing_core/environment/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace tracing::environment { namespace {

using tracing_test::TemporaryFolder;

// Runs `f` in a child process whose standard error is the file `err`.
template <class F>
void in_child(std::string const& err, F f) {
  pid_t const child = fork();
  if (child == 0) {
    if (std::freopen(err.c_str(), "w", stderr) == nullptr) _exit(1);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(OutputNote, HasNoFrameAsJson) {
  EXPECT_EQ(without_frame("\n---- Suite.Name: captured records ----\n"), "Suite.Name: captured records");
  EXPECT_EQ(without_frame("  -20.534 ms DEBUG m: text -\n"), "-20.534 ms DEBUG m: text -");
}

TEST(OutputFile, StartsANewLineAfterAnIncompleteOne) {
  TemporaryFolder const folder;
  Output output("outside_tests");
  output.open(folder.write("log", "whole\nbroken o"));
  output.write("a line\n");
  EXPECT_EQ(folder.read("log"), "whole\nbroken o\na line\n");
}

TEST(OutputFile, CountsLinesThatCouldNotBeWritten) {
  TemporaryFolder const folder;
  in_child(folder / "err", [&folder] {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 405;
    setrlimit(RLIMIT_FSIZE, &limit);
    Output output("outside_tests");
    output.open(folder / "log");
    for (int i = 0; i < 45; ++i) output.write("ten bytes\n");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    output.write("two\nlines\n");
    output.report_missing();
  });
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += "ten bytes\n";
  EXPECT_EQ(folder.read("log"), expected + "ten b\ntwo\nlines\n");
  EXPECT_EQ(folder.read("err"), "testlog: could not write TRACE_OUTPUT=" + (folder / "log") +
                                    ": File too large; lines may be missing\n" +
                                    "testlog: 5 lines are missing in TRACE_OUTPUT=" + (folder / "log") + "\n");
}

TEST(OutputFile, ContainsLinesOfForkedChildren) {
  TemporaryFolder const folder;
  Output output("outside_tests");
  output.open(folder / "%p");
  output.write("before\n");
  in_child(folder / "err", [&] { output.write("in the child\n"); });
  output.write("after\n");
  EXPECT_EQ(folder.read(std::to_string(getpid())), "before\nin the child\nafter\n");
}

// As a daemon does after fork(), or a test by closefrom().
TEST(OutputFile, IsNotWrittenToAFileThatReusesItsDescriptor) {
  TemporaryFolder const folder;
  std::string const other = folder.write("other", "precious");
  auto const reuse = [&other](int number) {
    int const file = open(other.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    dup2(file, number);
    close(file);
  };
  in_child(folder / "err", [&] {
    Output output("outside_tests");
    output.open(folder / "log");
    output.write("ours\n");
    if (pid_t const daemon = fork(); daemon != 0) {
      waitpid(daemon, nullptr, 0);
      reuse(output.descriptor());
      output.set_test("the next test");
    } else {
      reuse(output.descriptor());
    }
    output.write("not ours\n");
    output.report_missing();
  });
  EXPECT_EQ(folder.read("other"), "precious");
  EXPECT_EQ(folder.read("log"), "ours\n");
  EXPECT_EQ(folder.read("err"), "testlog: 1 line is missing in TRACE_OUTPUT=" + (folder / "log") + "\n");
}

}}  // namespace tracing::environment
