// `testlog flame` as it is run: what it writes, what it says, and how it ends.
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
// With `testlog` standing for the program.
Outcome shell(std::string const& command) {
  return testlog::testdata::run({"/bin/sh", "-c", "testlog() { '" TESTLOG_COMMAND "' \"$@\"; }; " + command});
}

// The titles of the frames, in their order.
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
  EXPECT_EQ(flame({run}).out, folder.read("run.svg")) << "standard output gets the same";
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

TEST(FlameCommand, TakesItsOptions) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main;a;b 10\nmain;a;c 20\nmain;d 5\n");
  std::string const svg =
      flame({run, "--title", "A <run>", "--unit", "samples", "--width", "700", "--min-width", "20", "--colors", "cool"})
          .out;
  EXPECT_THAT(svg, AllOf(HasSubstr(">A &lt;run&gt;<"), HasSubstr("width=\"700\""), HasSubstr("b (10 samples, 28.57%)"),
                         Not(HasSubstr("d (5"))));
  EXPECT_NE(svg, flame({run, "--title", "A <run>", "--unit", "samples", "--width", "700", "--min-width", "20"}).out);
  EXPECT_EQ(flame({run, "--colours", "grey"}).out, flame({run, "--colors", "grey"}).out);

  std::string const reversed = flame({run, "--reverse"}).out;
  EXPECT_THAT(reversed, HasSubstr(">Flame graph, turned round<"));
  EXPECT_THAT(titles(reversed), testing::Contains("b (10 ns, 28.57%)"));
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
  std::string const both = folder.write("both", "main;a 10 20\nmain;b 30 30\n");
  EXPECT_EQ(flame({"--two-counts", both}).out, outcome.out);
  EXPECT_THAT(titles(flame({"--diff", before, after, "--widths", "before"}).out),
              testing::Contains("a (10 ns, 25.00%; before 10, after 20: +10; own before 10, after 20: +10)"));
  EXPECT_THAT(titles(flame({"--diff", before, after, "--normalize"}).out),
              testing::Contains("a (20 ns, 40.00%; before 13, after 20: +7; own before 13, after 20: +7)"));
  EXPECT_THAT(titles(flame({"--diff", before, "--diff", before, after}).out),
              testing::Contains("a (20 ns, 40.00%; before 20, after 20: the same; own before 20, after 20: the same)"));
}

TEST(FlameCommand, SaysThatCountsMayBeTwo) {
  TemporaryFolder const folder;
  std::string const both = folder.write("both", "main;a 10 20\nmain;b 30 30\n");
  Outcome const outcome = flame({both});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              HasSubstr("every line ends in two numbers; if they are counts before and after, say --two-counts"));
}

TEST(FlameCommand, ReportsBadLinesAndDrawsTheOthers) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main 1\nmain;x\nmain -4\nmain 2.5\n");
  Outcome const outcome = flame({run});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "testlog flame: " + run + ":2: 'main;x': there is no count behind a stack; a line is `outer;inner 120`\n" +
                "testlog flame: " + run + ":3: '-4': a count cannot be negative; a line is `outer;inner 120`\n" +
                "testlog flame: fractions of counts were cut: 1\n");
  EXPECT_THAT(titles(outcome.out), testing::ElementsAre("all (3 ns, 100%)", "main (3 ns, 100.00%)"));
}

TEST(FlameCommand, ReportsManyBadLinesByTheirNumber) {
  TemporaryFolder const folder;
  std::string text = "main 1\n";
  for (int i = 0; i < 1000; ++i) text += "bad\n";
  Outcome const outcome = flame({folder.write("run", text)});
  EXPECT_EQ(testlog::testdata::count(outcome.err, "\n"), 11);
  EXPECT_THAT(outcome.err, HasSubstr("testlog flame: and 990 more lines that cannot be read\n"));
}

TEST(FlameCommand, FailsWhereThereIsNothingToDraw) {
  TemporaryFolder const folder;
  folder.write("old.svg", "an older picture");
  for (char const* const text : {"", "\n\n", "# nothing\n", "main 0\n"}) {
    Outcome const outcome = flame({folder.write("run", text), "-o", folder / "old.svg"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "testlog flame: there is nothing to draw: no line has a count above 0; a line is `outer;inner 120`\n");
  }
  EXPECT_EQ(folder.read("old.svg"), "an older picture");
}

TEST(FlameCommand, SaysWhichOfTwoRunsIsEmpty) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main 1\n");
  std::string const empty = folder.write("empty", "");
  std::string const zero = folder.write("zero", "main 0\n");
  std::string const both = folder.write("both", "main 0 5\n");
  std::string const no_after = "testlog flame: there is nothing to draw: no count after is above 0 in ";
  std::string const no_before = "testlog flame: there is nothing to draw: no count before is above 0 in ";
  for (auto const& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--diff", run, empty, zero}, no_after + empty + ", " + zero + "; `--widths before` draws the counts before\n"},
           {{"--diff", empty, run, "--widths", "before"}, no_before + empty + "; `--widths after` draws the counts after\n"},
           {{"--two-counts", both, "--widths", "before"}, no_before + both + "; `--widths after` draws the counts after\n"},
           {{"--diff", empty, zero},
            "testlog flame: there is nothing to draw: no line has a count above 0; a line is `outer;inner 120`\n"}}) {
    Outcome const outcome = flame(arguments);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, said);
  }
  EXPECT_THAT(shell("testlog flame --diff " + run + " < " + empty).err, StartsWith(no_after + "standard input; "));
  EXPECT_EQ(flame({"--diff", run, empty, "--widths", "before"}).exit_code, 0);
  EXPECT_EQ(flame({"--diff", empty, run}).exit_code, 0);
}

TEST(FlameCommand, SurvivesGarbage) {
  TemporaryFolder const folder;
  std::string garbage;
  for (int i = 0; i < 1 << 18; ++i) garbage += static_cast<char>(i * 131 >> (i % 7));
  Outcome const outcome = flame({folder.write("run", garbage)});
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_THAT(outcome.exit_code, testing::AnyOf(0, 1));
  EXPECT_THAT(outcome.err, StartsWith("testlog flame: "));
}

TEST(FlameCommand, SaysWhichFileCannotBeRead) {
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

TEST(FlameCommand, SaysWhereItCannotWrite) {
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

TEST(FlameCommand, SurvivesTheLimitOfAFilesSize) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run", "main 1\n");
  Outcome const outcome = shell("ulimit -f 1; testlog flame " + run + " -o " + (folder / "run.svg"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("run.svg: File too large"));
}

TEST(FlameCommand, WritesNoInputOver) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main 1\n");
  fs::create_symlink(run, folder / "link");
  Outcome const outcome = flame({run, "-o", folder / "link"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("testlog: flame: " + run + " would be written over; give another file to -o\n"));
  for (char const* const input : {"", "- ", "/dev/stdin ", "/dev/null --diff - "}) {
    Outcome const piped = shell("testlog flame " + std::string(input) + "-o " + run + " < " + run);
    EXPECT_EQ(piped.exit_code, 2) << input;
    EXPECT_THAT(piped.err, HasSubstr(" would be written over; give another file to -o\n"));
  }
  EXPECT_THAT(shell("testlog flame -o " + run + " < " + run).err, StartsWith("testlog: flame: standard input would be "));
  EXPECT_EQ(folder.read("run.folded"), "main 1\n");
}

TEST(FlameCommand, TellsAFileNamedMinusFromStandardInput) {
  TemporaryFolder const folder;
  std::string const run = folder.write("run.folded", "main 1\n");
  folder.write("-", "an older picture");
  Outcome const outcome = shell("cd " + (folder / "") + " && testlog flame -o ./- < " + run);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(folder.read("-"), HasSubstr("main (1 ns"));
}

TEST(FlameCommand, KnowsMistakesInTheCommandLine) {
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
      {run, "--diff", run, "--colors", "cool"},
      {run, "--two-counts", "--colours", "hot"},
      {run, "--diff", run, "--two-counts"},
      {run, "--diff", run, "--flamechart"},
      {"-", "-"},
      {"-", "--diff", "-"},
  };
  std::string complaints;
  for (auto const& arguments : mistakes) {
    Outcome const outcome = flame(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_TRUE(outcome.out.empty()) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("testlog"), HasSubstr("--help"))) << testing::PrintToString(arguments);
    std::string complaint = "testlog flame";
    for (std::string const& argument : arguments) complaint.append(" ").append(argument);
    complaint.append("\n").append(outcome.err).append("\n");
    for (std::size_t at; (at = complaint.find(run)) != complaint.npos;) complaint.replace(at, run.size(), "RUN");
    complaints += complaint;
  }
  expect_approved("flame_mistakes.txt", complaints);
  EXPECT_THAT(flame({run, "--colors", "pink"}).err,
              AllOf(HasSubstr("pink"), HasSubstr("{hot,cool,green,grey,module,perf}")));
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
  // 20 MB take 0.2 s; what grows with the square of the lines would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(TestlogCommand, HelpsAndTellsItsVersion) {
  Outcome outcome = testlog::testdata::run({TESTLOG_COMMAND, "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_approved("help.txt", outcome.out);
  outcome = testlog::testdata::run({TESTLOG_COMMAND, "--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, TESTLOG_VERSION "\n");
  outcome = flame({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_approved("flame_help.txt", outcome.out);
  outcome = testlog::testdata::run_command("repair", {"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  expect_approved("repair_help.txt", outcome.out);
}

TEST(TestlogCommand, WantsACommand) {
  std::string complaints;
  for (auto const& words : {std::vector<std::string>{TESTLOG_COMMAND}, {TESTLOG_COMMAND, "dance"}}) {
    Outcome const outcome = testlog::testdata::run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("testlog --help"));
    complaints += outcome.err;
  }
  expect_approved("mistakes.txt", complaints);
  EXPECT_THAT(testlog::testdata::run({TESTLOG_COMMAND, "dance"}).err,
              StartsWith("testlog: there is no command 'dance'; there is: flame, repair\n"));
}

}  // namespace
