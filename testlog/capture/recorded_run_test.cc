// The answers of `testlog` about a run of tests: show, tree, slow and stats, on the recordings that ctest left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_ctest;
using testlog::testdata::write_ctest;

// Two build folders; the tests of `build` ran last.
class RecordedRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new tracing_test::TemporaryFolder;
    write_ctest(*folder_ / "old_build", {"Plain.FailsTwice"});
    write_ctest(*folder_ / "build",
                {"Plain.Passes", "Plain.Fails", "Report.OfFailuresInThreeThreads", "SpansOnly.Fails", "Dies.ByExit"});
    for (char const* const build : {"old_build", "build"})
      run_ctest(*folder_ / build, {}, {{"TRACE_RECORD_KEEP", "all"}});
    run_ctest(*folder_ / "old_build", {"-N"});
  }
  static void TearDownTestSuite() { delete folder_; }

  // Runs `testlog ARGUMENTS...` where the build folders are, or in one of their folders.
  static Outcome ask(std::vector<std::string> const& arguments, std::string const& below = "") {
    std::vector<std::string> words{"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", *folder_ / below, TESTLOG_COMMAND};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return testlog::testdata::run(words);
  }
  // Returns the text without what differs from run to run.
  static std::string stable(std::string text) {
    text = std::regex_replace(text, std::regex("[^ \n]*(testlog/testdata/)"), "$1");
    text = std::regex_replace(text, std::regex("[0-9]+ ms"), "0 ms");
    return std::regex_replace(text, std::regex(" +[0-9.]+ (ns|us|ms|s)\\b"), "   TIME");
  }

  static inline tracing_test::TemporaryFolder* folder_ = nullptr;
};

TEST_F(RecordedRun, IsThatOfTheLastCtestWithoutArguments) {
  Outcome const shown = ask({"show", "--filter=off", "--time=none"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("---- Plain.Passes passed"), HasSubstr("---- Plain.Fails failed"),
                               Not(HasSubstr("Plain.FailsTwice"))));
  EXPECT_EQ(ask({"show", "--filter=off", "--time=none"}, "build").out, shown.out);
  EXPECT_THAT(ask({"show"}, "old_build").out, HasSubstr("Plain.FailsTwice"));
}

// A build folder with tests that fail and one that passes, what `testlog` answers there, and what ctest does.
class LastRun : public testing::Test {
 protected:
  LastRun() { write_ctest(build_, {"Plain.Fails", "Plain.FailsTwice", "SpansOnly.Fails", "Plain.Passes"}); }

  Outcome ask(std::string const& command) const {
    return testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && exec \"$1\" " + command, build_, TESTLOG_COMMAND});
  }
  // Returns the names of the tests that failed and are shown.
  std::string failed() const {
    std::string const text = ask("show --filter=off --time=none").out;
    std::string names;
    static std::regex const line("---- (.*) failed \\(");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) names += (*at)[1].str() + " ";
    return names;
  }
  static constexpr char kAll[] = "Plain.Fails Plain.FailsTwice SpansOnly.Fails ";

  tracing_test::TemporaryFolder const folder_;
  std::string const build_ = folder_ / "build";
};

TEST_F(LastRun, IsTheLastThatRanATest) {
  run_ctest(build_);
  EXPECT_EQ(failed(), kAll);
  for (std::vector<std::string> const& runs_nothing : std::vector<std::vector<std::string>>{{"-N"},
                                                                                            {"--show-only=json-v1"},
                                                                                            {"--show-only"},
                                                                                            {"--print-labels"},
                                                                                            {"-R", "no such test"},
                                                                                            {"-T", "Start"}}) {
    run_ctest(build_, runs_nothing);
    EXPECT_EQ(failed(), kAll) << runs_nothing[0];
  }
  for (std::string const command : {"tree", "slow", "stats", "export --folded"})
    EXPECT_THAT(ask(command).out, HasSubstr("numbers::forward")) << command;
  std::ofstream(build_ + "/Testing/Temporary/LastTestsFailed.log") << "99:Gone.Test\n";
  EXPECT_THAT(run_ctest(build_, {"--rerun-failed"}).err, HasSubstr("No tests were found"));
  EXPECT_EQ(failed(), kAll);
  run_ctest(build_, {"-R", "^Plain[.]Passes$"});
  EXPECT_THAT(
      ask("show").err,
      AllOf(HasSubstr(
                "left out 3 recordings of earlier runs of ctest; testlog show Testing/Temporary/testlog has them\n"),
            HasSubstr("the last ctest left no recordings in Testing/")));
}

TEST_F(LastRun, HasNoTestsOfEarlierRuns) {
  run_ctest(build_);
  run_ctest(build_, {"-R", "Plain[.]Fails"});
  EXPECT_EQ(failed(), "Plain.Fails Plain.FailsTwice ");
  EXPECT_EQ(ask("show --filter=off").err,
            "testlog show: left out 3 recordings of earlier runs of ctest; testlog show Testing/Temporary/testlog has "
            "them\n");
  run_ctest(build_, {"--rerun-failed"});
  EXPECT_EQ(failed(), "Plain.Fails Plain.FailsTwice ");
  run_ctest(build_, {"-R", "Plain[.]FailsTwice"});
  EXPECT_EQ(failed(), "Plain.FailsTwice ");
}

// `ctest -T Test` has a date in the name of its log, and keeps the logs of earlier runs.
TEST_F(LastRun, IsThatOfADashboardToo) {
  std::ofstream(build_ + "/DartConfiguration.tcl") << "BuildDirectory: " << build_ << "\n";
  run_ctest(build_);
  run_ctest(build_, {"-T", "Start"});
  run_ctest(build_, {"-T", "Test", "-R", "Plain[.]Fails"});
  EXPECT_EQ(failed(), "Plain.Fails Plain.FailsTwice ");
}

TEST_F(LastRun, IsThatOfAllCtestsThatAnIdeStartsOnePerTest) {
  run_ctest(build_);
  for (char const* const test : {"^Plain[.]Fails$", "^Plain[.]Passes$", "^SpansOnly[.]Fails$", "^Plain[.]Passes$"}) {
    run_ctest(build_, {"-R", test});
    run_ctest(build_, {"--show-only=json-v1"});
  }
  EXPECT_EQ(failed(), "Plain.Fails SpansOnly.Fails ");
}

// The second ctest runs its test while the first ctest runs its second test.
TEST_F(LastRun, IsThatOfAllCtestsThatRanAtOnce) {
  std::string const other =
      testlog::testdata::run({"/bin/sh", "-c", "echo $0 --test-dir $1 -R Only", TESTLOG_CTEST, build_}).out;
  write_ctest(build_, {"Plain.Fails", "SpansOnly.Fails"});
  std::ofstream(build_ + "/CTestTestfile.cmake", std::ios::app)
      << "add_test(Waits /bin/sh -c [==[" << other << "exec '" << TESTLOG_SCENARIOS
      << "' --gtest_filter=Plain.FailsTwice]==])\n";
  run_ctest(build_, {"-R", "Plain|Waits"});
  run_ctest(build_, {"-N"});
  EXPECT_EQ(failed(), "Plain.Fails SpansOnly.Fails Plain.FailsTwice ");
}

// A test that is started by a program that ctest starts, such as an emulator, also belongs to that ctest.
TEST_F(LastRun, IsThatOfACtestThatStartsTestsByAnotherProgram) {
  auto const add = [this](std::string const& test) {
    std::ofstream(build_ + "/CTestTestfile.cmake", std::ios::app)
        << "add_test(" << test << " /bin/sh -c [==['" << TESTLOG_SCENARIOS << "' --gtest_filter=" << test
        << "; exit $?]==])\n";
  };
  write_ctest(build_, {});
  for (char const* const test : {"Plain.Fails", "Plain.FailsTwice"}) add(test);
  run_ctest(build_);
  run_ctest(build_, {"-R", "FailsTwice"});
  EXPECT_EQ(failed(), "Plain.FailsTwice ");
}

TEST_F(RecordedRun, HasNotesOfTheSelectedTestsAlone) {
  EXPECT_THAT(ask({"stats"}).err, HasSubstr("Dies.ByExit did not end"));
  EXPECT_EQ(ask({"stats", "--test=SpansOnly.Fails"}).err, "");
}

TEST_F(RecordedRun, IsShownInTheOrderOfTime) {
  std::string const text = ask({"show", "--filter=off", "--time=none", "old_build/Testing/Temporary/testlog",
                                "build/Testing/Temporary/testlog"})
                               .out;
  EXPECT_LT(text.find("---- Plain.FailsTwice"), text.find("---- Plain.Passes"));
  EXPECT_LT(text.find("---- Plain.Passes"), text.find("---- Plain.Fails ----"));
}

TEST_F(RecordedRun, IsShownOfTheTestsThatFailed) {
  std::string const text = ask({"show", "--failed", "--filter=off", "--time=none"}).out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("---- Plain.Fails failed"), HasSubstr("---- Report.OfFailuresInThreeThreads failed"),
                    HasSubstr("---- Dies.ByExit ----"), Not(HasSubstr("Plain.Passes"))));
}

TEST_F(RecordedRun, IsShownOfOneThread) {
  std::string const worker =
      "[worker-1] DEBUG shard{i=1}: report_scenarios: loaded\n[worker-1] DEBUG shard{i=1}: report_scenarios: "
      "unloaded\n";
  EXPECT_EQ(ask({"show", "--thread=worker-1", "--time=none"}).out, worker);
}

TEST_F(RecordedRun, IsShownFromAMomentToAnother) {
  auto const show = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"show", "--test=Plain.Fails", "--filter=debug"});
    return ask(more).out;
  };
  std::string const all = show({});
  std::size_t const line = all.find("after the failure");
  ASSERT_NE(line, all.npos) << all;
  std::size_t const begin = all.rfind('\n', line) + 1;
  std::string const time = all.substr(begin, all.find(' ', begin) - begin);
  EXPECT_THAT(show({"--since=" + time}), StartsWith(all.substr(begin, line - begin)));
  EXPECT_THAT(show({"--until=" + time}), Not(HasSubstr("Plain.Fails failed")));
  EXPECT_EQ(show({"--since=0s", "--until=10m"}), all);
  EXPECT_EQ(show({"--since=10m"}), "");
}

// The time counts from the begin of the test, also if other tests ran before.
TEST_F(RecordedRun, IsShownFromAMomentOfTheTest) {
  auto const show = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"show", "--test=Dies.ByExit", "--time=relative"});
    return ask(more).out;
  };
  std::string const line = show({"--grep=not shown"});
  EXPECT_THAT(line, testing::ContainsRegex("^ +[+][0-9.]+ ms DEBUG outer"));
  std::string const time = line.substr(line.find('+'), line.find(" DEBUG") - line.find('+'));
  EXPECT_THAT(show({"--since=0us", "--until=10s"}), HasSubstr(line));
  EXPECT_THAT(show({"--since=" + time}), HasSubstr(line));
  EXPECT_EQ(show({"--since=10s"}), "");
}

TEST_F(RecordedRun, IsSearchedByAnExpression) {
  EXPECT_EQ(ask({"show", "--grep=^.worker-1.*: loaded$", "--time=none"}).out,
            "[worker-1] DEBUG shard{i=1}: report_scenarios: loaded\n");
  EXPECT_EQ(ask({"show", "--grep=i=[02].*: loaded", "--time=none", "--color=always"}).exit_code, 0);
  EXPECT_EQ(
      ask({"show", "--grep=i=[02].*: loaded", "--time=none"}).out,
      "[worker-0] DEBUG shard{i=0}: report_scenarios: loaded\n[worker-2] DEBUG shard{i=2}: report_scenarios: loaded\n");
}

TEST_F(RecordedRun, HasItsTestsAndFailuresInColour) {
  std::string const text = ask({"show", "--failed", "--filter=off", "--color=always"}).out;
  EXPECT_THAT(text, HasSubstr("\x1b[1m---- Plain.Fails ----\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("scenarios.cc:49: Failure\x1b[0m\n  Expected equality"));
}

TEST_F(RecordedRun, IsDrawnAsATreeOfSpans) {
  tracing::testing::expect_approved("tree.txt", stable(ask({"tree"}).out));
  EXPECT_THAT(ask({"tree", "--test=SpansOnly.*", "--depth=1"}).out,
              HasSubstr("numbers::forward\n                                 ...\n"));
  EXPECT_THAT(ask({"tree", "--color=always"}).out, HasSubstr("\x1b[1m---- Plain.Fails"));
}

// Returns the time of a line such as `  2.325 ms    41.1 us        1  numbers::forward`, in nanoseconds.
double total_of(std::string const& tree, std::string const& span) {
  std::smatch found;
  if (!std::regex_search(tree, found, std::regex("([0-9.]+) (ns|us|ms|s) .* " + span + "\n"))) return -1;
  std::string const unit = found[2];
  return std::stod(found[1]) * (unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9);
}

TEST_F(RecordedRun, HasTheTimesOfItsFoldedStacks) {
  std::string const tree = ask({"tree", "--test=SpansOnly.Fails"}).out;
  std::istringstream folded(ask({"export", "--folded", "-", "--filter=numbers=trace",
                                 "build/Testing/Temporary/testlog/testlog_scenarios.SpansOnly.Fails.rec"})
                                .out);
  double sum = 0;
  for (std::string line; std::getline(folded, line);) {
    if (line.find("numbers::forward") != line.npos) sum += std::stod(line.substr(line.rfind(' ')));
  }
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(total_of(tree, "numbers::forward"), sum, sum / 100);
}

TEST_F(RecordedRun, NamesItsSlowestSpansAndTests) {
  std::string const text = stable(ask({"slow", "--top=0"}).out);
  EXPECT_THAT(text, StartsWith("      self      total    longest  entered  span\n"));
  EXPECT_THAT(text, HasSubstr("        3  report_scenarios::shard\n"));
  EXPECT_THAT(text, HasSubstr("        1  dying_scenarios::outer (open)\n"));
  EXPECT_THAT(text, HasSubstr("  duration  test\n    no end  Dies.ByExit\n"));
  EXPECT_THAT(text, HasSubstr("  Plain.Fails (failed)\n"));
  EXPECT_THAT(ask({"slow", "--top=1"}).out, testing::ContainsRegex("\\.\\.\\. [0-9]+ more \\(--top\\)\n\n"));
}

TEST_F(RecordedRun, HasStatisticsOfEachTest) {
  std::string const text = ask({"stats", "--by=test", "--test=SpansOnly.*:Report.*"}).out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("---- SpansOnly.Fails ----\nSpans\n"),
                    HasSubstr("---- Report.OfFailuresInThreeThreads ----\nSpans\n"), Not(HasSubstr("Plain.Fails"))));
  std::string const tree = ask({"tree", "--test=SpansOnly.Fails"}).out;
  EXPECT_EQ(total_of(text, "numbers::multiply"), total_of(tree, "numbers::multiply"));
  EXPECT_THAT(ask({"stats", "--failed"}).out, Not(HasSubstr("passes")));
}

TEST_F(RecordedRun, IsExported) {
  Outcome const exported = ask({"export", "--json"}, "build");
  EXPECT_EQ(exported.exit_code, 0);
  EXPECT_THAT(exported.out, HasSubstr("\"message\":\"after the failure\""));
}

// Returns what bash offers for `testlog WORDS...`, whose last word is not complete.
std::string completed(std::string const& words) {
  std::string const script = "source <(" TESTLOG_COMMAND " completion bash); COMP_WORDS=(testlog " + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _testlog_words; echo \"${COMPREPLY[@]}\"";
  return testlog::testdata::run({"/bin/bash", "-c", script}).out;
}

TEST(Completion, OffersCommandsAndOptions) {
  EXPECT_EQ(completed("s"), "show summary slow stats\n");
  EXPECT_EQ(completed("show --fo"), "--format --follow\n");
  EXPECT_EQ(completed("slow --t"), "--test --top\n");
  std::string const zsh = testlog::testdata::run({TESTLOG_COMMAND, "completion", "zsh"}).out;
  EXPECT_THAT(zsh, AllOf(StartsWith("#compdef testlog\n"),
                         testing::EndsWith("_bash_complete -o filenames -F _testlog_words\n")));
}

TEST(Manual, HasAllCommandsAndIsTroff) {
  std::string const page = testlog::testdata::run({TESTLOG_COMMAND, "man"}).out;
  for (std::string const command : {"show", "runs", "summary", "tree", "slow", "stats", "export", "open", "pack",
                                    "flame", "repair", "man", "completion"})
    EXPECT_THAT(page, HasSubstr("\n.SS testlog " + command + "\n"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(".")) continue;
    EXPECT_THAT(line, testing::ContainsRegex("^\\.(TH|SH|SS|TP|B|PP|nf|fi)( |$)"));
  }
}

TEST_F(RecordedRun, SaysThatItCannotBeWritten) {
  for (std::string const command : {"show", "tree", "slow", "stats", "man"}) {
    std::string const words = "cd \"$0\" && exec \"$1\" " + command + " > /dev/full 2> error";
    Outcome const outcome = testlog::testdata::run({"/bin/sh", "-c", words, *folder_ / "build", TESTLOG_COMMAND});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(testlog::testdata::content_of(*folder_ / "build/error"),
                HasSubstr("testlog " + command + ": standard output could not be written: No space left on device\n"));
  }
}

TEST_F(RecordedRun, MistakesAreExplained) {
  write_ctest(*folder_ / "passed", {"Plain.Passes"});
  run_ctest(*folder_ / "passed");
  fs::create_directories(*folder_ / "empty");
  struct Mistake {
    std::vector<std::string> arguments;
    std::string below;
  };
  std::string messages;
  for (auto const& [arguments, below] : std::vector<Mistake>{
           {{"show"}, "empty"},
           {{"tree"}, "passed"},
           {{"tree", "--depth=-3"}, "passed"},
           {{"show", "--test=Other.*"}, "build"},
           {{"show", "--test=plain.fails"}, "build"},
           {{"show", "--grep=no such text"}, "build"},
           {{"show", "--thread=nobody"}, "build"},
           {{"tree", "--test=Other.*"}, "build"},
           {{"slow", "--test=Other.*"}, "build"},
           {{"stats", "--test=Other.*"}, "build"},
           {{"show", "--since=yesterday"}, "build"},
           {{"show", "--until=5"}, "build"},
           {{"show", "--grep=a(b"}, "build"},
           {{"show", "--format=xml"}, "build"},
           {{"show", "--span-events=new,old"}, "build"},
           {{"show", "--failed", "--follow"}, "build"},
           {{"tree", "empty"}, ""},
           {{"slow", "build/CTestTestfile.cmake"}, ""},
           {{"show", "missing.rec"}, ""},
           {{"completion", "fish"}, ""},
       }) {
    Outcome const outcome = ask(arguments, below);
    EXPECT_EQ(outcome.out, "");
    for (std::string const& argument : arguments) messages.append(argument).append(" ");
    messages += "-> " + std::to_string(outcome.exit_code) + "\n" + outcome.err + "\n";
  }
  tracing::testing::expect_approved("command_mistakes.txt", messages);
}

// Perf spans are in a recording if TRACE_PERF selected them, and every reader has them.
TEST(RecordedPerfSpans, AreShownAsTheyWereLiveAndAreInEachExport) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "perf.rec";
  std::string const live = testlog::testdata::run_scenarios("Perf.Passes", {{"TRACE_PERF", "on"},
                                                                            {"TRACE_SHOW", "live"},
                                                                            {"TRACE_FILTER", "info"},
                                                                            {"TRACE_RECORD", file},
                                                                            {"TRACE_PERFETTO", folder / "run.pftrace"}})
                               .err;
  auto const ask = [&file](std::vector<std::string> words) {
    words.insert(words.begin(), TESTLOG_COMMAND);
    words.push_back(file);
    return testlog::testdata::run(words).out;
  };
  EXPECT_EQ(testlog::testdata::count(live, "performance_span_complete"), 3) << live;
  std::string const shown = ask({"show", "--time=none", "--filter=info"});
  EXPECT_EQ(std::regex_replace(shown, std::regex("----.*\n"), ""), live) << "less the lines about the run";
  EXPECT_THAT(ask({"tree"}), HasSubstr("cpu_ldg"));
  EXPECT_THAT(ask({"stats"}), HasSubstr("cpu_ldg"));
  for (char const* const format : {"--chrome=-", "--folded=-", "--json=-", "--perfetto=-"})
    EXPECT_THAT(ask({"export", format}), HasSubstr("cpu_ldg")) << format;
  EXPECT_THAT(testlog::testdata::content_of(folder / "run.pftrace"), HasSubstr("cpu_ldg"));
}

// ctest prints these names.
TEST(RecordedParameters, AreSelectedByTheNamesOfCtest) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "run.rec";
  testlog::testdata::run_scenarios("*Values.Fails/*:*Types*:*Patterns*:Both/Streams.*", {{"TRACE_RECORD", file}});
  auto const tests = [&file](std::string const& name) {
    std::string const text =
        testlog::testdata::run({TESTLOG_COMMAND, "show", "--filter=off", "--time=none", "--test=" + name, file}).out;
    std::string names;
    static std::regex const line("---- (\\S+) ----");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) names += (*at)[1].str() + " ";
    return names;
  };
  EXPECT_EQ(tests("Some/Values.Fails/0"), "Some/Values.Fails/0 ");
  EXPECT_EQ(tests("Some/Values.Fails/2"), "Some/Values.Fails/1 ");
  EXPECT_EQ(tests("Some/Values.Fails/1"), "Some/Values.Fails/0 Some/Values.Fails/1 ");  // a value, and a number
  EXPECT_EQ(tests("Both/Streams.CapturesInTheChildToo/\"fast\""), "Both/Streams.CapturesInTheChildToo/0 ");
  EXPECT_EQ(tests("Types.Fails<char>"), "Types/1.Fails ");
  EXPECT_EQ(tests("Some.Fails<*>:*Values.Fails/2"), "Some/Patterns/0.Fails Some/Values.Fails/1 ");
}

// A thread keeps its test, and a reader knows when that has ended.
TEST(RecordedLateRecord, IsShownAsItWasLiveAndIsOfItsTest) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "late.rec";
  std::string const live =
      testlog::testdata::run_scenarios("Late.CreatesAThreadAndAllowsErrors:Late.AllowsErrors", {{"TRACE_RECORD", file}})
          .err;
  auto const show = [&file](std::vector<std::string> const& more) {
    std::vector<std::string> words{TESTLOG_COMMAND, "show", "--time=none", file};
    words.insert(words.end(), more.begin(), more.end());
    return std::regex_replace(testlog::testdata::run(words).out, std::regex("----.*\n"), "");
  };
  EXPECT_EQ(live,
            "[late, from Late.CreatesAThreadAndAllowsErrors] [thread 2] ERROR process_scenarios: of the thread\n");
  EXPECT_EQ(show({}), live);
  EXPECT_EQ(show({"--test=Late.CreatesAThreadAndAllowsErrors"}), live);
  EXPECT_EQ(show({"--test=Late.AllowsErrors"}), "");
  EXPECT_THAT(show({"--json"}),
              HasSubstr(R"("test":"Late.CreatesAThreadAndAllowsErrors","late":true,"thread":"thread 2")"));
}

TEST(RecordedLateFailure, IsShownWithItsTest) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "late.rec";
  testlog::testdata::run_scenarios("Late.CreatesAThread:Late.IsFailed", {{"TRACE_RECORD", file}});
  std::string const shown = testlog::testdata::run({TESTLOG_COMMAND, "show", "--time=none", file}).out;
  EXPECT_EQ(testlog::testdata::count(shown, "\n[late, from Late.CreatesAThread] "), 2) << shown;
  EXPECT_THAT(shown, testing::ContainsRegex(
                         "\n\\[late, from Late.CreatesAThread\\] [^ ]+:[0-9]+: Failure\n  Failed\n  in no span\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("\n[^ ]+:[0-9]+: Failure\n  Value of: false\n"));
}

// Three threads were given the name `pool`.
TEST(RecordedThreads, HaveTheirNumberWithTheirNameInEveryOutput) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "pool.rec", chrome = folder / "pool.json";
  std::string const live =
      testlog::testdata::run_scenarios("Waiting.OfThreads",
                                       {{"TRACE_FILTER", "trace"}, {"TRACE_RECORD", file}, {"TRACE_CHROME", chrome}})
          .err;
  auto const ask = [&file](std::vector<std::string> const& words) {
    std::vector<std::string> all{TESTLOG_COMMAND};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back(file);
    return testlog::testdata::run(all).out;
  };
  std::string const shown = ask({"show", "--time=none"}), json = ask({"show", "--json"}),
                    stats = ask({"stats", "--by=thread"});
  std::smatch second, third;
  ASSERT_TRUE(std::regex_search(live, second, std::regex("\\[(pool [0-9]+)\\] DEBUG job\\{i=1\\}"))) << live;
  ASSERT_TRUE(std::regex_search(live, third, std::regex("\\[(pool [0-9]+)\\] DEBUG job\\{i=2\\}"))) << live;
  EXPECT_NE(second[1], third[1]);
  int i = 0;
  for (std::string const& name : {std::string("pool"), second[1].str(), third[1].str()}) {
    std::string const line = "[" + name + "] DEBUG job{i=" + std::to_string(i++) + "}: process_scenarios: done\n";
    EXPECT_THAT(live, HasSubstr(line));
    EXPECT_THAT(shown, HasSubstr(line));
    EXPECT_THAT(json, HasSubstr("\"thread\":\"" + name + "\""));
    EXPECT_THAT(stats, HasSubstr("---- " + name + " ----\n"));
    EXPECT_THAT(testlog::testdata::content_of(chrome),
                HasSubstr("{\"args\":{\"name\":\"" + name + "\"},\"name\":\"thread_name\""));
  }
}

// Also with a recording in a file, which the child could not write to.
TEST(RecordedDeathTest, HasWhatTheChildRecordedIfTheTestFailed) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "death.rec";
  for (char const* const style : {"fast", "threadsafe"}) {
    std::vector<std::string> const more{std::string("--gtest_death_test_style=") + style};
    std::filesystem::remove(file);
    testlog::testdata::run_scenarios("RedDeathTest.MessageDiffers", {{"TRACE_RECORD", file}}, more);
    std::string const child = "[child 1] ERROR break_invariant{id=1}: process_scenarios: invariant broken\n";
    Outcome const shown =
        testlog::testdata::run({TESTLOG_COMMAND, "show", "--time=none", "--test=RedDeathTest.MessageDiffers", file});
    EXPECT_THAT(shown.out, HasSubstr(child)) << style;
    EXPECT_EQ(shown.err, "") << style;
    EXPECT_THAT(testlog::testdata::run({TESTLOG_COMMAND, "tree", file}).out, HasSubstr("break_invariant")) << style;
    std::string const chrome = folder / "death.json";
    testlog::testdata::run({TESTLOG_COMMAND, "export", "--chrome=" + chrome, file});
    EXPECT_THAT(testlog::testdata::content_of(chrome), HasSubstr(R"({"args":{"name":"child 1"},"name":"thread_name")"))
        << style;
    std::filesystem::remove(file);
    testlog::testdata::run_scenarios("GreenDeathTest.Dies", {{"TRACE_RECORD", file}}, more);
    EXPECT_THAT(testlog::testdata::run({TESTLOG_COMMAND, "show", file}).out, Not(HasSubstr("invariant broken")))
        << style;
  }
}

}  // namespace
