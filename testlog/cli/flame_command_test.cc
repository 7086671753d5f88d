// `testlog flame`: its output, its messages and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/tracing.h"

namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using tracing::testing::expect_approved;
using tracing_test::TemporaryFolder;

Outcome flame(std::vector<std::string> const& arguments) { return testlog::testdata::run_command("flame", arguments); }
// Runs a shell command in which `testlog` is the program.
Outcome shell(std::string const& command) {
  return testlog::testdata::run({"/bin/sh", "-c", "testlog() { '" TESTLOG_COMMAND "' \"$@\"; }; " + command});
}

// Returns the titles of the frames, in their order.
std::vector<std::string> titles(std::string const& svg) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = svg.find("<g class=\"f\"", at)) != svg.npos; ++at) {
    std::size_t const begin = svg.find("<title>", at) + 7;
    out.push_back(svg.substr(begin, svg.find("</title>", begin) - begin));
  }
  return out;
}

TEST(FlameCommand, DrawsAFile) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main;load 10\nmain;run 30\n");
  Outcome const outcome = flame({run, "-o", folder / "run.svg"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(titles(folder.read("run.svg")), testing::ElementsAre("all (40 ns, 100%)", "main (40 ns, 100.00%)",
                                                                   "load (10 ns, 25.00%)", "run (30 ns, 75.00%)"));
  EXPECT_EQ(flame({run}).out, folder.read("run.svg")) << "the same to standard output";
  EXPECT_EQ(shell("testlog flame < " + run).out, folder.read("run.svg"));
  EXPECT_EQ(shell("testlog flame - < " + run).out, folder.read("run.svg"));
}

TEST(FlameCommand, AddsFilesUp) {
  TemporaryFolder const folder;
  std::string const one = folder.write("1", "# a comment\nmain;a 1\n\n");
  std::string const two = folder.write("2", "main;b 2");
  Outcome const outcome = shell("echo 'main;a 4' | testlog flame " + one + " - " + two);
  EXPECT_THAT(titles(outcome.out),
              testing::ElementsAre("all (7 ns, 100%)", "main (7 ns, 100.00%)", "a (5 ns, 71.43%)", "b (2 ns, 28.57%)"));
}

TEST(FlameCommand, DrawsWhatAFlameLayerWrites) {
  TemporaryFolder const folder;
  std::error_code error;
  {
    auto [layer, guard] = tracing::flame_layer(folder / "run.folded", error, {.threads_collapsed = true});
    ASSERT_FALSE(error);
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), [] {
      TRACE_SPAN(info, "outer; with a semicolon");
      TRACE_SPAN(info, "inner <T>");
    });
  }
  Outcome const outcome = flame({folder / "run.folded"});
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> names;
  for (std::string const& title : titles(outcome.out)) names.push_back(title.substr(0, title.rfind(" (")));
  EXPECT_THAT(names, testing::IsSupersetOf({"all", "all-threads"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("outer: with a semicolon ("), HasSubstr("inner &lt;T&gt; (")));
}

TEST(FlameCommand, HonoursItsOptions) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main;a;b 10\nmain;a;c 20\nmain;d 5\n");
  std::string const svg = flame({run, "--title", "A <run>", "--unit", "samples", "--width", "700", "--min-width", "20",
                                 "--colors", "module"})
                              .out;
  EXPECT_THAT(svg, AllOf(HasSubstr(">A &lt;run&gt;<"), HasSubstr("width=\"700\""), HasSubstr("b (10 samples, 28.57%)"),
                         Not(HasSubstr("d (5"))));
  EXPECT_NE(svg, flame({run, "--title", "A <run>", "--unit", "samples", "--width", "700", "--min-width", "20"}).out);

  std::string const reversed = flame({run, "--reverse"}).out;
  EXPECT_THAT(reversed, HasSubstr(">Flame graph, reversed<"));
  EXPECT_THAT(titles(reversed), testing::Contains("b (10 ns, 28.57%)"));
  EXPECT_THAT(flame({run, "--inverted", "--count-name", "bytes"}).out,
              testing::AllOf(HasSubstr(">Icicle graph<"), HasSubstr(">Width: bytes, 35 in all<")));
  EXPECT_THAT(flame({run, "--countname", "bytes"}).out, HasSubstr(">Width: bytes, 35 in all<"));
}

TEST(FlameCommand, DrawsCharts) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "a 1\nb 2\na 3\n");
  std::string const chart = flame({run, "--flamechart"}).out;
  EXPECT_THAT(chart, HasSubstr(">Flame chart<"));
  EXPECT_THAT(titles(chart),
              testing::ElementsAre("all (6 ns, 100%)", "a (1 ns, 16.67%)", "b (2 ns, 33.33%)", "a (3 ns, 50.00%)"));
  EXPECT_THAT(titles(flame({run, "--flamechart", "--last-first"}).out),
              testing::ElementsAre("all (6 ns, 100%)", "a (3 ns, 50.00%)", "b (2 ns, 33.33%)", "a (1 ns, 16.67%)"));
}

TEST(FlameCommand, ComparesTwoRuns) {
  TemporaryFolder const folder;
  std::string const before = folder.write("before", "main;a 10\nmain;b 30\n");
  std::string const after = folder.write("after", "main;a 20\nmain;b 30\n");
  Outcome const outcome = flame({"--diff", before, after});
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr(">Differential flame graph<"));
  EXPECT_THAT(titles(outcome.out),
              testing::Contains("a (20 ns, 40.00%; before 10, after 20: +10; own before 10, after 20: +10)"));
  EXPECT_EQ(flame({after, "--diff", before}).out, outcome.out);
  EXPECT_THAT(titles(flame({"--diff", before, after, "--widths", "before"}).out),
              testing::Contains("a (10 ns, 25.00%; before 10, after 20: +10; own before 10, after 20: +10)"));
  EXPECT_THAT(titles(flame({"--diff", before, after, "--normalize"}).out),
              testing::Contains("a (20 ns, 40.00%; before 13, after 20: +7; own before 13, after 20: +7)"));
  EXPECT_THAT(
      titles(flame({"--diff", before, "--diff", before, after}).out),
      testing::Contains("a (20 ns, 40.00%; before 20, after 20: unchanged; own before 20, after 20: unchanged)"));
}

TEST(FlameCommand, ReportsBadLinesAndDrawsTheOthers) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main 1\nmain;x\nmain -4\nmain 2.5\n");
  Outcome const outcome = flame({run});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "testlog flame: " + run + ":2: 'main;x': missing count; expected a line like `outer;inner 120`\n" +
                "testlog flame: " + run + ":3: '-4': the count is negative; expected a line like `outer;inner 120`\n" +
                "testlog flame: fractions dropped from counts: 1\n");
  EXPECT_THAT(titles(outcome.out), testing::ElementsAre("all (3 ns, 100%)", "main (3 ns, 100.00%)"));
}

TEST(FlameCommand, CountsManyBadLines) {
  TemporaryFolder const folder;
  std::string text = "main 1\n";
  for (int i = 0; i < 1000; ++i) text += "bad\n";
  Outcome const outcome = flame({folder.write("run", text)});
  EXPECT_EQ(testlog::testdata::count(outcome.err, "\n"), 11);
  EXPECT_THAT(outcome.err, HasSubstr("testlog flame: and 990 more malformed lines\n"));
}

TEST(FlameCommand, FailsIfThereIsNothingToDraw) {
  TemporaryFolder const folder;
  folder.write("old.svg", "an older picture");
  for (char const* const text : {"", "\n\n", "# nothing\n", "main 0\n"}) {
    Outcome const outcome = flame({folder.write("run", text), "-o", folder / "old.svg"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "testlog flame: nothing to draw: no count is above 0; expected lines like `outer;inner 120`\n");
  }
  Outcome const compared = flame({"--diff", folder.write("before", "main 1\n"), folder.write("after", "")});
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_THAT(compared.err, HasSubstr("nothing to draw: no count after is above 0"));
  EXPECT_EQ(folder.read("old.svg"), "an older picture");
}

TEST(FlameCommand, ReportsFilesThatCannotBeRead) {
  TemporaryFolder const folder;
  std::string const missing = folder / "missing.folded";
  Outcome outcome = flame({missing});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog flame: cannot read " + missing + ": No such file or directory\n");
  EXPECT_EQ(outcome.out, "");
  outcome = flame({"/tmp"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog flame: cannot read /tmp: Is a directory\n");
}

TEST(FlameCommand, ReportsFilesThatCannotBeWritten) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main 1\n");
  std::string const nowhere = folder / "no/such/folder.svg";
  Outcome outcome = flame({run, "-o", nowhere});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog flame: cannot write " + nowhere + ": No such file or directory\n");
  outcome = flame({run, "-o", "/tmp"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog flame: cannot write /tmp: Is a directory\n");
  outcome = flame({run, "-o", "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog flame: cannot write /dev/full: No space left on device\n");
}

TEST(FlameCommand, ReportsRlimitFsize) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main 1\n");
  Outcome const outcome = shell("ulimit -f 1; testlog flame " + run + " -o " + (folder / "run.svg"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("run.svg: File too large"));
}

TEST(FlameCommand, RefusesToOverwriteAnInput) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main 1\n");
  fs::create_symlink(run, folder / "link");
  Outcome const outcome = flame({run, "-o", folder / "link"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("testlog: flame: --output would overwrite " + run + "\n"));
  for (char const* const input : {"", "- ", "/dev/stdin ", "/dev/null --diff - "}) {
    Outcome const piped = shell("testlog flame " + std::string(input) + "-o " + run + " < " + run);
    EXPECT_EQ(piped.exit_code, 2) << input;
    EXPECT_THAT(piped.err, HasSubstr("testlog: flame: --output would overwrite "));
  }
  EXPECT_EQ(folder.read("run.folded"), "main 1\n");
}

TEST(FlameCommand, ReportsMistakesInTheCommandLine) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main 1\n");
  std::vector<std::vector<std::string>> const mistakes = {
      {run, "--loud"},
      {run, "--width", "many"},
      {run, "--width", "5"},
      {run, "--min-width", "101"},
      {run, "--min-width", "nan"},
      {run, "--colors", "pink"},
      {run, "--title"},
      {run, "--reverse", "--flamechart"},
      {run, "--last-first"},
      {run, "--normalize"},
      {run, "--widths", "before"},
      {run, "--diff", run, "--colors", "module"},
      {run, "--diff", run, "--flamechart"},
      {"-", "-"},
      {"-", "--diff", "-"},
  };
  std::string messages;
  for (auto const& arguments : mistakes) {
    Outcome const outcome = flame(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_TRUE(outcome.out.empty()) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("testlog"), HasSubstr("--help"))) << testing::PrintToString(arguments);
    std::string message = "testlog flame";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    message.append("\n").append(outcome.err).append("\n");
    for (std::size_t at; (at = message.find(run)) != message.npos;) message.replace(at, run.size(), "RUN");
    messages += message;
  }
  expect_approved("flame_mistakes.txt", messages);
  EXPECT_THAT(flame({run, "--colors", "pink"}).err, AllOf(HasSubstr("pink"), HasSubstr("hot, module")));
}

TEST(FlameCommand, DrawsLargeFilesQuickly) {
  TemporaryFolder const folder;
  {
    std::ofstream file(folder / "large");
    for (int i = 0; i < 300'000; ++i) {
      file << "ThreadId(" << i % 8 << ")-worker;kernels::launch;kernels::compile;pass_" << i % 100 << ";rule_"
           << i % 997 << ' ' << i + 1 << '\n';
    }
  }
  auto const start = std::chrono::steady_clock::now();
  EXPECT_EQ(flame({folder / "large", "-o", folder / "large.svg"}).exit_code, 0);
  EXPECT_EQ(flame({folder / "large", "--flamechart", "-o", folder / "large.svg"}).exit_code, 0);
  // 20 MB take 0.2 s; an algorithm quadratic in the lines would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(TestlogCommand, PrintsHelpAndVersion) {
  Outcome outcome = testlog::testdata::run({TESTLOG_COMMAND, "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_approved("help.txt", outcome.out);
  outcome = testlog::testdata::run({TESTLOG_COMMAND, "--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, TESTLOG_VERSION "\n");
  outcome = flame({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_approved("flame_help.txt", outcome.out);
  for (std::string const command : {"ci", "completion", "counts", "diff", "export", "hunt", "man", "open", "pack",
                                    "repair", "report", "runs", "show", "slow", "stats", "summary", "tree", "why"}) {
    outcome = testlog::testdata::run_command(command, {"--help"});
    EXPECT_EQ(outcome.exit_code, 0);
    expect_approved(command + "_help.txt", outcome.out);
  }
}

TEST(TestlogCommand, ReportsAMissingOrUnknownCommand) {
  std::string messages;
  for (auto const& words : {std::vector<std::string>{TESTLOG_COMMAND}, {TESTLOG_COMMAND, "dance"}}) {
    Outcome const outcome = testlog::testdata::run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("testlog --help"));
    messages += outcome.err;
  }
  expect_approved("mistakes.txt", messages);
}

}  // namespace
