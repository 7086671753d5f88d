// TRACE_CHROME and TRACE_FLAME: runs programs as a user does and checks their files.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/support/file_name.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_own_main;
using testlog::testdata::run_scenarios;
using tracing::support::file_name_of;

class FileOutputs : public testing::Test {
 protected:
  std::string path(std::string const& name) const { return folder_ / name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(path(""))) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  tracing_test::TemporaryFolder const folder_;
};

// Returns the records of a trace that is strict JSON, such as `B launch`, without the records that name processes and
// threads and without the slices of tests.
std::vector<std::string> records_in(std::string const& text) {
  Json const all = Json::parse(text, nullptr, false);
  EXPECT_TRUE(all.is_array()) << text;
  std::vector<std::string> records;
  for (Json const& record : all.is_array() ? all : Json::array()) {
    if (record["ph"] == "M" || record.value("cat", "") == "test") continue;
    records.push_back(record["ph"].get<std::string>() + " " + record["name"].get<std::string>());
  }
  return records;
}
std::vector<std::string> trace(std::string const& path) { return records_in(content_of(path)); }

// Succeeds if every line is a stack and a number.
testing::AssertionResult is_folded(std::string const& text) {
  static std::regex const line("[^\\n]+ [0-9]+");
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = text.find('\n', at);
    if (end == text.npos || !std::regex_match(text.substr(at, end - at), line)) {
      return testing::AssertionFailure() << text.substr(at, 200);
    }
    at = end + 1;
  }
  return testing::AssertionSuccess();
}

std::vector<std::string> const kWork{"B launch", "B compile", "i spoken",  "i spoken", "i spoken",
                                     "i spoken", "i spoken",  "E compile", "E launch"};

// ---- content ----

TEST_F(FileOutputs, ContainAllLevelsWhateverIsShown) {
  for (auto const& more : {testlog::testdata::Variables{},
                           {{"TRACE_FILTER", "off"}},
                           {{"TRACE_SHOW", "none"}},
                           {{"TRACE_CAPTURE", "off"}}}) {
    testlog::testdata::Variables variables{{"TRACE_CHROME", path("trace.json")}, {"TRACE_FLAME", path("run.folded")}};
    variables.insert(variables.end(), more.begin(), more.end());
    Outcome const outcome = run_scenarios("Plain.Passes", variables);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, run_scenarios("Plain.Passes", more).err);
    EXPECT_EQ(trace(path("trace.json")), kWork);
    std::string const folded = content_of(path("run.folded"));
    EXPECT_TRUE(is_folded(folded));
    EXPECT_EQ(count(folded, "\n"), 3) << folded;
    EXPECT_THAT(folded, HasSubstr("ThreadId(1)-main;library::launch;library::compile "));
    for (std::string const& name : files()) fs::remove(path(name));
  }
}

TEST_F(FileOutputs, FoldedStacksHaveTheTimeInNoSpanOnlyOnDemand) {
  for (bool const is_wanted : {false, true}) {
    run_scenarios("Plain.Passes",
                  {{"TRACE_FLAME", path("run.folded")}, {"TRACE_FLAME_IDLE", is_wanted ? "on" : "off"}});
    std::string const folded = content_of(path("run.folded"));
    EXPECT_TRUE(is_folded(folded));
    EXPECT_EQ(count(folded, "ThreadId(1)-main "), is_wanted ? 1 : 0) << folded;
    EXPECT_EQ(count(folded, "ThreadId(1)-main;library::launch "), 2) << folded;
    fs::remove(path("run.folded"));
  }
}

TEST_F(FileOutputs, FoldedStacksOfAnEarlierCtestAreReplaced) {
  testlog::testdata::write_ctest(path("build"), {"Plain.Passes", "Plain.Fails"});
  testlog::testdata::Variables const variables{{"TRACE_FLAME", path("run.folded")}, {"TRACE_FLAME_TESTS", "on"}};
  testlog::testdata::run_ctest(path("build"), {"-R", "Fails"}, variables);
  testlog::testdata::run_ctest(path("build"), {}, variables);
  testlog::testdata::run_ctest(path("build"), {"-N"}, variables);
  std::string const of_one = content_of(path("run.folded"));
  EXPECT_EQ(count(of_one, "Plain.Fails"), 6) << of_one;
  EXPECT_EQ(count(of_one, "Plain.Passes"), 3) << of_one;
  run_scenarios("Plain.Fails", variables);  // records outside of ctest
  EXPECT_EQ(count(content_of(path("run.folded")), "Plain.Fails"), 12);
}

TEST_F(FileOutputs, ContainWhatTraceCaptureSelects) {
  run_scenarios("Plain.Passes",
                {{"TRACE_CHROME", path("trace.json")}, {"TRACE_FLAME", path("run.folded")}, {"TRACE_CAPTURE", "info"}});
  EXPECT_THAT(trace(path("trace.json")), ElementsAre("B launch", "i spoken", "i spoken", "i spoken", "E launch"));
  EXPECT_EQ(count(content_of(path("run.folded")), "compile"), 0);
}

TEST_F(FileOutputs, ContainAllTestsAndRecordsOutsideTests) {
  run_scenarios("Plain.Passes:Settings.None", {{"TRACE_CHROME", path("trace.json")}, {"SCENARIO_OUTSIDE", "1"}});
  auto const records = trace(path("trace.json"));
  EXPECT_EQ(std::count(records.begin(), records.end(), "B launch"), 2);
  EXPECT_EQ(std::count(records.begin(), records.end(), "i spoken"), 15);
  EXPECT_THAT(records, Contains("i environment torn down"));
}

TEST_F(FileOutputs, TraceOfTheProgramHasASliceAroundTheSpansOfEachTest) {
  run_scenarios("Plain.Passes:Settings.None", {{"TRACE_CHROME", path("trace.json")}});
  std::vector<std::string> slices;
  for (Json const& record : Json::parse(content_of(path("trace.json")))) {
    bool const is_outer = record.value("cat", "") == "test" || record.value("name", "") == "launch";
    if (is_outer) slices.push_back(record["ph"].get<std::string>() + " " + record["name"].get<std::string>());
    EXPECT_TRUE(!is_outer || record["tid"] == record["pid"]) << record;
  }
  EXPECT_THAT(slices, ElementsAre("B Plain.Passes", "B launch", "E launch", "E Plain.Passes", "B Settings.None",
                                  "B launch", "E launch", "E Settings.None"));
}

TEST_F(FileOutputs, FoldedStacksHaveTheTestAsRootOnDemand) {
  run_scenarios("Plain.Passes:Settings.None",
                {{"TRACE_FLAME", path("run.folded")}, {"TRACE_FLAME_TESTS", "on"}, {"SCENARIO_OUTSIDE", "1"}});
  std::string const folded = content_of(path("run.folded"));
  EXPECT_TRUE(is_folded(folded));
  EXPECT_EQ(count(folded, "Plain.Passes;ThreadId(1)-main;library::launch;library::compile "), 1) << folded;
  EXPECT_EQ(count(folded, "Settings.None;ThreadId(1)-main;library::launch "), 2) << folded;
  EXPECT_EQ(count(folded, "\nThreadId"), 0) << folded;
}

TEST_F(FileOutputs, RecordingOfACrashEndsWithTheLastRecord) {
  run_dying("Dies.BySegv", {{"TRACE_RECORD", path("crash.rec")}});
  std::string error;
  auto const recording = tracing::recording::Recording::read_file(path("crash.rec"), error);
  ASSERT_NE(recording, nullptr) << error;
  int records = 0;
  recording->for_each([&](tracing::recording::Entry const&) { ++records; });
  EXPECT_GT(records, 0);
  ASSERT_FALSE(recording->tracks().empty());
  EXPECT_FALSE(recording->tracks().front().open.empty()) << "the spans in which it crashed";
}

TEST_F(FileOutputs, AreWrittenByAProgramWithItsOwnMain) {
  EXPECT_EQ(run_own_main({{"TRACE_CHROME", path("trace.json")}}).exit_code, 0);
  EXPECT_THAT(trace(path("trace.json")), Not(IsEmpty()));
}

// ---- names ----

TEST_F(FileOutputs, FolderHasOneFilePerTestThatRecords) {
  for (std::string const& folder : {path(""), path("new/")}) {
    run_scenarios("Plain.Passes:Plain.FailsSilently:*Values.Fails/0:Settings.None",
                  {{"TRACE_CHROME", folder}, {"SCENARIO_OUTSIDE", "1"}});
    EXPECT_EQ(trace(folder + "Plain.Passes.json"), kWork);
    EXPECT_EQ(trace(folder + "Settings.None.json"), kWork);
    EXPECT_THAT(trace(folder + tracing::support::file_name_of("Some/Values.Fails/0") + ".json"),
                ElementsAre("i deep", "i value"));
    EXPECT_THAT(trace(folder + "outside_tests.json"), SizeIs(8));
    EXPECT_FALSE(fs::exists(folder + "Plain.FailsSilently.json"));
  }
}

// `Some/Values.Fails/0` and `Some_Values.Fails_0`: the files of the first would have the names of the second.
TEST_F(FileOutputs, EachTestHasItsOwn) {
  for (char const* const folder : {"output", "record"}) fs::create_directory(path(folder));
  run_scenarios("Some/Values.Fails/0:Some_Values.Fails_0", {{"TRACE_CHROME", path("chrome/")},
                                                            {"TRACE_PERFETTO", path("perfetto/")},
                                                            {"TRACE_XPLANE", path("plugins/profile/xplane/")},
                                                            {"TRACE_OUTPUT", path("output/%t.log")}});
  for (std::string const test : {"Some/Values.Fails/0", "Some_Values.Fails_0"})
    run_scenarios(test, {{"TRACE_RECORD", path("record/%t.rec")}, {"TRACE_RECORD_KEEP", "all"}});
  for (std::string const output : {"chrome", "perfetto", "plugins/profile/xplane", "output", "record"}) {
    std::set<std::string> names;
    for (auto const& file : fs::directory_iterator(path(output))) names.insert(fs::path(file).stem());
    names.erase("outside_tests");
    EXPECT_THAT(names, SizeIs(2)) << output;
  }
}

TEST_F(FileOutputs, PlaceholdersNameProcessAndTest) {
  run_scenarios("Plain.Passes:Settings.None", {{"TRACE_CHROME", path("%p-%t.trace")}, {"TRACE_FLAME", path("%t.%p")}});
  ASSERT_THAT(files(), SizeIs(4));
  EXPECT_TRUE(std::regex_match(files()[0], std::regex("[0-9]+-Plain\\.Passes\\.trace"))) << files()[0];
  EXPECT_TRUE(std::regex_match(files()[3], std::regex("Settings\\.None\\.[0-9]+"))) << files()[3];
  EXPECT_EQ(trace(path(files()[0])), kWork);
  EXPECT_EQ(count(content_of(path(files()[3])), "library::compile"), 1);
}

TEST_F(FileOutputs, FileOfATestHasNoLateRecords) {
  run_scenarios("Threads.LeavesAThreadBehind:Threads.NextIsNotBlamed", {{"TRACE_CHROME", path("")}});
  EXPECT_THAT(files(), ElementsAre("Threads.LeavesAThreadBehind.json", "outside_tests.json"));
  EXPECT_THAT(trace(path("outside_tests.json")), ElementsAre("i late word"));
}

TEST_F(FileOutputs, PathIsRelativeToTheFirstWorkingDirectory) {
  Outcome const outcome = run_scenarios("Processes.GoesElsewhere", {{"TRACE_CHROME", fs::relative(path("")).string()}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(trace(path("Processes.GoesElsewhere.json")), kWork);
}

// ---- several processes ----

TEST_F(FileOutputs, FileOfASecondProcessHasItsNumber) {
  run_scenarios("Plain.Passes", {{"TRACE_CHROME", path("trace.json")}});
  std::string const before = content_of(path("trace.json"));
  Outcome const second = run_scenarios("Settings.None", {{"TRACE_CHROME", path("trace.json")}});
  EXPECT_EQ(content_of(path("trace.json")), before);
  ASSERT_THAT(files(), SizeIs(2));
  EXPECT_TRUE(std::regex_match(files()[0], std::regex("trace\\.[0-9]+\\.json"))) << files()[0];
  EXPECT_EQ(trace(path(files()[0])), kWork);
  EXPECT_THAT(second.err, HasSubstr("testlog: TRACE_CHROME: " + path("trace.json") + " already exists; writing " +
                                    path(files()[0]) + " instead\n"));
}

TEST_F(FileOutputs, RepeatedTestsKeepAllFiles) {
  Outcome const outcome =
      run_scenarios("Plain.Passes:Settings.None", {{"TRACE_CHROME", path("")}}, {"--gtest_repeat=3"});
  EXPECT_THAT(files(), SizeIs(6));
  for (std::string const& name : files()) EXPECT_EQ(trace(path(name)), kWork);
  EXPECT_EQ(count(outcome.err, "already exists"), 1) << outcome.err;
}

TEST_F(FileOutputs, ManyProcessesLoseNoRecord) {
  constexpr int kProcesses = 8;
  std::vector<std::thread> runs;
  for (int i = 0; i < kProcesses; ++i) {
    runs.emplace_back([this] {
      run_scenarios(
          "Threads.ManyWrite",
          {{"TRACE_CHROME", path("trace.json")}, {"TRACE_FLAME", path("run.folded")}, {"TRACE_SHOW", "none"}});
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_THAT(files(), SizeIs(kProcesses + 1));
  for (std::string const& name : files()) {
    if (name == "run.folded") continue;
    EXPECT_THAT(trace(path(name)), SizeIs(200 * kWork.size())) << name;
  }
  std::string const folded = content_of(path("run.folded"));
  EXPECT_TRUE(is_folded(folded));
  EXPECT_EQ(count(folded, "\n"), kProcesses * 200 * 3);
}

TEST_F(FileOutputs, ListingTestsMakesNoFile) {
  Outcome const outcome =
      run_scenarios("*", {{"TRACE_CHROME", path("trace.json")}, {"TRACE_FLAME", path("a/")}, {"SCENARIO_OUTSIDE", "1"}},
                    {"--gtest_list_tests"});
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(FileOutputs, ForkedChildrenWriteNothing) {
#if TESTLOG_ASAN || TESTLOG_TSAN
  GTEST_SKIP() << "a forked child may find the sanitizer's allocator locked by the thread that writes the trace";
#endif
  std::string const tests = "Processes.ForkGoesOn:Both/Streams.*";
  Outcome const plain = run_scenarios(tests);
  for (std::string const& name : {std::string("trace.json"), std::string()}) {
    Outcome const outcome = run_scenarios(tests, {{"TRACE_CHROME", path(name)}, {"TRACE_FLAME", path("flame/")}});
    EXPECT_EQ(outcome.out, plain.out);
    EXPECT_THAT(outcome.err, Not(HasSubstr("already exists")));
  }
  auto records = trace(path("trace.json"));
  EXPECT_EQ(std::count(records.begin(), records.end(), "B launch"), 2 * (4 + 1 + 1 + 1));
  EXPECT_THAT(records, Not(Contains("i in the child")));
  EXPECT_THAT(records, Contains("i in the parent"));
  EXPECT_THAT(trace(path("Processes.ForkGoesOn.json")), ElementsAre("B parent", "i in the parent", "E parent"));
  EXPECT_EQ(trace(path(file_name_of("Both/Streams.CapturesInTheChildToo/1") + ".json")), kWork);
  EXPECT_EQ(count(content_of(path("flame/" + file_name_of("Both/Streams.CapturesInTheChildToo/0") + ".folded")), "\n"),
            2 * 3);
}

// ---- crashes and failures ----

TEST_F(FileOutputs, CrashLeavesCompleteRecords) {
  for (char const* const test : {"Dies.BySegv", "Dies.ByAbort", "Dies.Killed"}) {
    EXPECT_NE(run_dying(test, {{"TRACE_CHROME", path(test)}, {"TRACE_SHOW", "none"}}).signal, 0);
    std::string text = content_of(path(test));
    // SIGKILL may interrupt the write() of the last records.
    if (std::string_view(test) == "Dies.Killed") text.resize(std::min(text.rfind(",\n"), text.size()));
    EXPECT_TRUE(Json::accept(text + "]")) << text.substr(0, 1000);
  }
  // The handler of the signal waited for the thread that writes.
  EXPECT_THAT(records_in(content_of(path("Dies.BySegv")) + "]"),
              ElementsAre("B outer", "i shown 1", "i not shown text"));
}

TEST_F(FileOutputs, CrashLeavesStacksOfEarlierSpans) {
  for (bool const is_killed : {false, true}) {
    testlog::testdata::Variables variables{{"TRACE_FLAME", path("")}, {"TRACE_SHOW", "none"}};
    if (is_killed) variables.emplace_back("SCENARIO_KILLED", "1");
    EXPECT_EQ(run_dying("Plain.Passes:Dies.AfterAWhile", variables).signal, is_killed ? SIGKILL : SIGSEGV);
    std::string const before = content_of(path("Plain.Passes.folded"));
    EXPECT_TRUE(is_folded(before));
    EXPECT_EQ(count(before, "\n"), 3) << "a test that ended is there";
    std::string const text = content_of(path("Dies.AfterAWhile.folded"));
    EXPECT_TRUE(is_folded(text));
    EXPECT_THAT(text, HasSubstr(";dying_scenarios::long_ago "));
    EXPECT_THAT(text, Not(HasSubstr("just_now"))) << "lines wait for up to 100 ms";
    for (std::string const& name : files()) fs::remove(path(name));
  }
}

TEST_F(FileOutputs, FailureToOpenIsReportedOnce) {
  for (std::string const& bad : {path("no/such/folder"), path("no/%t")}) {
    Outcome const outcome = run_scenarios(
        "Plain.Passes:Settings.None", {{"TRACE_CHROME", bad + ".json"}, {"TRACE_FLAME", bad}, {"TRACE_SHOW", "none"}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, "testlog: TRACE_CHROME=" + path("")), 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "testlog: TRACE_FLAME=" + path("")), 1) << outcome.err;
    EXPECT_EQ(
        count(outcome.err, ": could not be opened: No such file or directory; expected a path that can be written to"),
        2);
  }
}

TEST_F(FileOutputs, TwoFormatsNeverShareAFile) {
  Outcome const outcome =
      run_scenarios("Plain.Passes", {{"TRACE_CHROME", path("both")}, {"TRACE_FLAME", path("both")}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("testlog: TRACE_FLAME=" + path("both") +
                                     ": is already used by TRACE_CHROME; expected another path, or a folder\n"));
  EXPECT_TRUE(Json::accept(content_of(path("both"))));
}

TEST_F(FileOutputs, FullDiskIsReportedOnce) {
  std::string const test = "Both/Streams.CaptureStderrSeesOnlyTheProgramsOutput/0";
  Outcome const outcome =
      run_scenarios(test, {{"TRACE_CHROME", "/dev/full"}, {"TRACE_FLAME", "/dev/full"}, {"TRACE_SHOW", "none"}},
                    {"--gtest_repeat=2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(count(outcome.err, "/dev/full: No space left on device"), 2) << outcome.err;
}

}  // namespace
