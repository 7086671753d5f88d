// Tests which recordings stay when a test program ends, and what they say about its tests.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "testlog/capture/run_records.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/record/recording.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_scenarios;
using testlog::testdata::run_with_signals;
using testlog::testdata::Variables;

class DefaultRecording : public testing::Test {
 protected:
  Outcome run(std::string const& filter, Variables variables = {}) {
    variables.emplace_back("TRACE_RECORD_DEFAULT", folder_ / "recordings");
    return run_scenarios(filter, variables);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder_ / "recordings"))
      if (entry.path().extension() == ".rec") names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns lines such as `test_begin test=Plain.Fails line=45`, for the marks with this name.
  std::vector<std::string> marks(std::string const& file, std::string_view name = {}) const {
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(folder_ / ("recordings/" + file), error);
    std::vector<std::string> lines;
    if (recording == nullptr) return {error};
    recording->for_each([&](tracing::recording::Entry const& entry) {
      if (entry.type != tracing::recording::EntryType::mark) return;
      if (!name.empty() && entry.metadata->name() != name) return;
      tracing::InlineTextBuffer<256> line;
      line.append(entry.metadata->name());
      tracing::FieldValues const values(*entry.metadata, entry.values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values.value(i).is_empty()) continue;
        line.push_back(' ');
        line.append(values.name(i));
        line.push_back('=');
        tracing::append_debug(line, values.value(i));
      }
      lines.emplace_back(line.view());
    });
    EXPECT_THAT(recording->problems(), IsEmpty());
    return lines;
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(DefaultRecording, IsRemovedIfTheTestPasses) {
  EXPECT_EQ(run("Plain.Passes").exit_code, 0);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DefaultRecording, StaysAndIsNamedIfTheTestFails) {
  Outcome const outcome = run("Plain.Fails");
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.Plain.Fails.rec"));
  EXPECT_THAT(outcome.err, HasSubstr("testlog: the whole recording: testlog show " +
                                     std::string(folder_ / "recordings/testlog_scenarios.Plain.Fails.rec") + "\n"));
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "recordings/testlog_scenarios.Plain.Fails.rec").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(DefaultRecording, TellsHowATestRanAndFailed) {
  run("Plain.Fails");
  auto const all = marks("testlog_scenarios.Plain.Fails.rec");
  ASSERT_GE(all.size(), 5u);
  EXPECT_THAT(all[0], AllOf(HasSubstr("process pid="), HasSubstr("--gtest_filter=Plain.Fails"),
                            HasSubstr("variables=\"TRACE_TIME=none TRACE_RECORD_DEFAULT=")));
  EXPECT_THAT(all[0], HasSubstr(" googletest=\""));
  EXPECT_THAT(all[1], AllOf(HasSubstr("repetition number=0 seed="), HasSubstr("shards=1 shard=0")));
  EXPECT_THAT(all[2], AllOf(HasSubstr("test_begin test=\"Plain.Fails\" file="), HasSubstr("scenarios.cc\" line=")));
  EXPECT_THAT(all[3], AllOf(HasSubstr("failure test=\"Plain.Fails\" file="),
                            HasSubstr("message=\"Expected equality of these values:")));
  EXPECT_THAT(all, Contains("property test=\"Plain.Fails\" name=\"trace_span_path\" value=\"outer{id=7}:inner\""));
  EXPECT_THAT(all, Contains(HasSubstr("test_end test=\"Plain.Fails\" result=\"failed\" duration_ms=")));
  EXPECT_EQ(all.back(), "run_end tests=1 failed=1");
}

TEST_F(DefaultRecording, HasThePropertiesOfSuitesAndEnvironments) {
  run("SetUpOnce.A*:SetUpOnce.B*", {{"SCENARIO_OUTSIDE", "1"}});
  EXPECT_THAT(marks("testlog_scenarios.rec", "property"),
              ElementsAre("property test=\"SetUpOnce\" name=\"room\" value=\"4\"",
                          "property test=\"\" name=\"devices\" value=\"2\""));
}

TEST_F(DefaultRecording, IsNotThatOfTestProgramsThatATestStarts) {
  EXPECT_EQ(run("Processes.StartsATestProgramThatFails", {{"TRACE_RECORD_KEEP", "all"}}).exit_code, 0);
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.Processes.StartsATestProgramThatFails.rec"));
}

TEST_F(DefaultRecording, HasTheNameOfTheProgramForSeveralTests) {
  run("Plain.Fails:Plain.Passes");
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.rec"));
  EXPECT_THAT(marks("testlog_scenarios.rec", "test_end"),
              testing::UnorderedElementsAre(HasSubstr("\"Plain.Passes\" result=\"passed\""),
                                            HasSubstr("\"Plain.Fails\" result=\"failed\"")));
}

TEST_F(DefaultRecording, HasTheNameThatThePathGivesIt) {
  Variables const variables{{"TRACE_RECORD_DEFAULT", folder_ / "recordings/unit.gpu_%t.rec"}};
  run_scenarios("Plain.Fails", variables);
  run_scenarios("Plain.Fails:Plain.Passes", variables);
  run("Plain.Fails");
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.Plain.Fails.rec", "unit.gpu_Plain.Fails.rec",
                                   "unit.gpu_testlog_scenarios.rec"));
}

TEST_F(DefaultRecording, IsNamedByTheProgramAndItsOwnArguments) {
  Variables const variables{{"TRACE_RECORD_DEFAULT", folder_ / "recordings/%e.gpu_%t.rec"}};
  run_scenarios("Plain.Fails", variables, {"--gtest_print_time=0", "--gmock_verbose=error"});
  for (char const* const device : {"0", "1"}) run_scenarios("Plain.Fails", variables, {"--device", device});
  auto const names = files();
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0], "testlog_scenarios.gpu_Plain.Fails.rec");
  EXPECT_THAT(names[1], MatchesRegex("testlog_scenarios~[0-9a-f]{8}\\.gpu_Plain\\.Fails\\.rec"));
  run_scenarios("Plain.Passes", {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}, {"TRACE_RECORD_KEEP", "all"}},
                {"--device"});
  EXPECT_THAT(files(), Contains(MatchesRegex("testlog_scenarios~[0-9a-f]{8}\\.Plain\\.Passes\\.rec")));
}

TEST_F(DefaultRecording, HasTheNameOfTheOnlyTestWithTraceRecord) {
  Variables const variables{{"TRACE_RECORD", folder_ / "recordings/%t.rec"}};
  std::filesystem::create_directory(folder_ / "recordings");
  run_scenarios("Plain.Passes", variables);
  run_scenarios("Plain.Fails:Plain.Passes", variables);
  EXPECT_THAT(files(), ElementsAre("Plain.Passes.rec", "testlog_scenarios.rec"));
}

TEST_F(DefaultRecording, StaysIfTheProcessDoesNotEndByItself) {
  run("Dies.ByExit");
  EXPECT_THAT(marks("testlog_scenarios.Dies.ByExit.rec", "exit"), ElementsAre("exit test=\"Dies.ByExit\""));
  run_dying("Dies.InDeepSpans", {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}});
  EXPECT_THAT(marks("testlog_scenarios.Dies.InDeepSpans.rec", "signal"),
              ElementsAre("signal test=\"Dies.InDeepSpans\" signal=\"SIGSEGV\""));
}

TEST_F(DefaultRecording, SaysHowLongAHangingTestRan) {
  run_with_signals(
      "Hangs.InAMutex", {{"---- end of the report ----\n", SIGKILL}},
      {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}, {"TRACE_HANG_AFTER", "0.5"}, {"TRACE_SHOW", "failed"}});
  EXPECT_THAT(marks("testlog_scenarios.Hangs.InAMutex.rec", "still_running"),
              ElementsAre(MatchesRegex("still_running test=\"Hangs.InAMutex\" duration_ms=[0-9]{3,}")));
}

TEST_F(DefaultRecording, IsLeftToTheParentByAForkedChild) {
  EXPECT_EQ(run("Both/Streams.Death*").exit_code, 0);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DefaultRecording, ReplacesTheFileOfAnEarlierRunThatPassed) {
  Variables const keep_all{{"TRACE_RECORD_KEEP", "all"}};
  run("Plain.Passes", keep_all);
  auto const first = marks("testlog_scenarios.Plain.Passes.rec");
  run("Plain.Passes", keep_all);
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.Plain.Passes.rec"));
  EXPECT_NE(marks("testlog_scenarios.Plain.Passes.rec"), first) << "another process";
}

TEST_F(DefaultRecording, SaysWhatCiSaysOfItself) {
  run("Plain.Fails", {{"GITHUB_ACTIONS", "true"},
                      {"GITHUB_SHA", "0123abc"},
                      {"GITHUB_SERVER_URL", "https://github.com"},
                      {"GITHUB_REPOSITORY", "a/b"},
                      {"GITHUB_RUN_ID", "7"},
                      {"GITHUB_JOB", "linux"},
                      {"GITHUB_WORKFLOW", ""},
                      {"GITHUB_HEAD_REF", ""},
                      {"GITHUB_REF_NAME", "main"}});
  EXPECT_THAT(marks("testlog_scenarios.Plain.Fails.rec", "ci"),
              ElementsAre("ci service=\"github\" revision=\"0123abc\" "
                          "url=\"https://github.com/a/b/actions/runs/7\" job=\"linux\" run=\"7\" branch=\"main\""));
}

TEST_F(DefaultRecording, LeavesTheFileOfARunningProcess) {
  run("Plain.Fails");
  int const other = open((folder_ / "recordings/testlog_scenarios.Plain.Fails.rec").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  run("Plain.Fails");
  close(other);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(DefaultRecording, GivesWayToTraceRecord) {
  run("Plain.Fails", {{"TRACE_RECORD", folder_ / "own.rec"}});
  EXPECT_TRUE(std::filesystem::exists(std::string(folder_ / "own.rec")));
  EXPECT_FALSE(std::filesystem::exists(std::string(folder_ / "recordings")));
  run("Plain.Fails", {{"TRACE_RECORD", "off"}});
  EXPECT_FALSE(std::filesystem::exists(std::string(folder_ / "recordings")));
}

TEST_F(DefaultRecording, StaysIfAllShallBeKept) {
  run("Plain.Passes", {{"TRACE_RECORD_KEEP", "all"}});
  EXPECT_THAT(files(), ElementsAre("testlog_scenarios.Plain.Passes.rec"));
}

TEST_F(DefaultRecording, IsCutAfterItsLastUsedChunk) {
  run("Plain.Fails");
  auto const size = std::filesystem::file_size(folder_ / "recordings/testlog_scenarios.Plain.Fails.rec");
  constexpr std::size_t kChunk = 16384, kHeads = 12288;
  EXPECT_EQ(size % kChunk, kHeads % kChunk);
  EXPECT_LE(size, kHeads + 4 * kChunk) << "one of callsites, one or two of marks, one of the thread";
}

TEST_F(DefaultRecording, IsRemovedOnlyOnRequestWithTraceRecord) {
  std::string const own = folder_ / "own.rec";
  run("Plain.Passes", {{"TRACE_RECORD", own}});
  struct stat status {};
  ASSERT_EQ(stat(own.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u) << "only the user may read it";
  std::filesystem::remove(own);
  run("Plain.Passes", {{"TRACE_RECORD", own}, {"TRACE_RECORD_KEEP", "failed"}});
  EXPECT_FALSE(std::filesystem::exists(own));
}

TEST_F(DefaultRecording, IsReportedByFailingTestsIfItCannotBeMade) {
  std::string const file = folder_.write("file", "");
  Variables const variables{{"TRACE_RECORD_DEFAULT", file + "/folder"}};
  EXPECT_THAT(run_scenarios("Plain.Passes", variables).err, Not(HasSubstr("TRACE_RECORD_DEFAULT")));
  Outcome const outcome = run_scenarios("Plain.Fails", variables);
  EXPECT_THAT(outcome.err, HasSubstr("testlog: TRACE_RECORD_DEFAULT=" + file + "/folder/"));
  EXPECT_THAT(outcome.err, HasSubstr("---- Plain.Fails: captured records ----"));
}

TEST_F(DefaultRecording, HasMarksOfSkipsAndRepetitions) {
  run("Captured.StartsEmpty", {{"TRACE_RECORD_KEEP", "all"}, {"GTEST_REPEAT", "2"}});
  EXPECT_THAT(marks("testlog_scenarios.Captured.StartsEmpty.rec", "repetition"),
              ElementsAre(HasSubstr("number=0"), HasSubstr("number=1")));
}

// A test program captures by default: that must not hide its races.
TEST(Capture, HidesNoRaceFromThreadSanitizer) {
  if (TESTLOG_TSAN == 0) GTEST_SKIP() << "built without ThreadSanitizer";
  tracing_test::TemporaryFolder const folder;
  auto const found = [](Variables variables) {
    variables.insert(variables.end(), {{"TRACE_FILTER", "off"}, {"TSAN_OPTIONS", "exitcode=66"}});
    int count = 0;
    for (int i = 0; i < 20; ++i) count += run_scenarios("Races.*", variables).exit_code == 66;
    return count;
  };
  int const plain = found({{"TRACE_CAPTURE", "off"}});
  int const captured = found({});
  int const recorded = found({{"TRACE_RECORD_DEFAULT", folder / "recordings"}});
  RecordProperty("found_plain", plain);
  RecordProperty("found_captured", captured);
  RecordProperty("found_recorded", recorded);
  EXPECT_GT(plain, 15) << "the experiment is worth nothing";
  EXPECT_GE(captured, plain - 1);
  EXPECT_GE(recorded, plain - 1);
}

#if defined(TESTLOG_COMMAND)
TEST_F(DefaultRecording, IsShownWithTheRunOfTheTest) {
  run("Plain.Fails");
  auto const show = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TESTLOG_COMMAND, "show", folder_ / "recordings"});
    return testlog::testdata::run(arguments);
  };
  std::string text = show({"--time", "none", "--test", "Plain.F*", "--filter", "debug"}).out;
  text = std::regex_replace(text, std::regex("[^ \n]*(testlog/testdata/)"), "$1");
  tracing::testing::expect_approved("show_failed.txt", std::regex_replace(text, std::regex("[0-9]+ ms"), "0 ms"));
  EXPECT_THAT(show({"--filter", "off"}).out, testing::StartsWith("---- process "));
  EXPECT_THAT(show({"--filter", "off", "--time", "none", "--json"}).out,
              HasSubstr("\n{\"kind\":\"test_end\",\"test\":\"Plain.Fails\",\"result\":\"failed\",\"duration_ms\":"));
  Outcome const none = show({"--test", "Other.*"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "testlog show: no test is selected; recorded: Plain.Fails\n");
}
TEST_F(DefaultRecording, IsShownOfAnEnvironmentThatFailed) {
  run("Plain.Passes", {{"SCENARIO_OUTSIDE", "fails"}});
  Outcome const shown = testlog::testdata::run({TESTLOG_COMMAND, "show", folder_ / "recordings", "--failed"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("environment torn down"), HasSubstr(": Failure\n"), Not(HasSubstr("---- Plain.Passes"))));
}
TEST_F(DefaultRecording, IsShownWithTheNumberOfOverwrittenRecordsOfATest) {
  run("SetUpOnce.D*:SetUpOnce.E*", {{"TRACE_RECORD_LIMIT", "262144"}});
  auto const notes = [this](std::string const& test) {
    return testlog::testdata::run({TESTLOG_COMMAND, "show", folder_ / "recordings", "--test", test}).err;
  };
  EXPECT_THAT(notes("SetUpOnce.*"), HasSubstr(" earlier records were overwritten; TRACE_RECORD_LIMIT keeps more\n"));
  EXPECT_THAT(notes("SetUpOnce.*"), testing::ContainsRegex("[0-9]+ of them were of SetUpOnce.DFillsTheRecording\n"));
  EXPECT_THAT(notes("SetUpOnce.E*"), Not(HasSubstr(" of them ")));
}

// Returns the lines without the marks about the run of the tests.
std::string without_marks(std::string const& text) {
  return std::regex_replace(text, std::regex("(^|\n)(---- [^\n]*\n|\\{[^\n]*\"kind\":[^\n]*\n)+"), "$1");
}

TEST_F(DefaultRecording, IsShownAsItWasPrintedLive) {
  for (std::string const format : {"full", "compact", "pretty", "json"}) {
    SCOPED_TRACE(format);
    std::filesystem::remove_all(folder_ / "recordings");
    std::string const live = folder_ / ("live." + format);
    run("Plain.Passes:SpansOnly.Passes:Fixture.Shows*:Threads.HelpersBelongToTheTest", {{"TRACE_FILTER", "trace"},
                                                                                        {"TRACE_OUTPUT", live},
                                                                                        {"TRACE_FORMAT", format},
                                                                                        {"TRACE_TIME", "utc"},
                                                                                        {"TRACE_SPAN_EVENTS", "full"},
                                                                                        {"TRACE_RECORD_KEEP", "all"}});
    Outcome const shown = testlog::testdata::run(
        {TESTLOG_COMMAND, "show", folder_ / "recordings", "--format", format, "--span-events=full"});
    EXPECT_EQ(without_marks(shown.out), testlog::testdata::content_of(live));
    EXPECT_THAT(shown.out, HasSubstr("suite set up"));
  }
}

TEST_F(DefaultRecording, FolderWithoutAnyIsReported) {
  Outcome const outcome = testlog::testdata::run({TESTLOG_COMMAND, "show", folder_ / ""});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(" has no recordings (*.rec, *.rec.gz)"));
}
#endif

TEST(CommandLine, HidesValuesOfHiddenFields) {
  tracing::redact("password");
  char const* const words[] = {"program", "--password=secret", "password=secret", "--other=x", "plain"};
  EXPECT_EQ(testlog::command_line(5, words),
            "program --password=***REDACTED*** password=***REDACTED*** --other=x plain");
  char const* const apart[] = {"program", "--password", "hunter3", "-password",
                               "--x=y",   "password",   "plain",   "--password"};
  EXPECT_EQ(testlog::command_line(8, apart),
            "program --password ***REDACTED*** -password ***REDACTED*** password plain --password");
  tracing::redact("");
}

}  // namespace
