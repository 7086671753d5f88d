// TRACE_PERFETTO and TRACE_XPLANE: the profiles that programs write about themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/traces/perfetto_reader.h"
#include "tests/traces/xplane_reader.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using testlog_test::PerfettoTrace;
using testlog_test::XplaneProfile;

class ProfilesOfTests : public testing::Test {
 protected:
  // Returns the files in the folder, by their paths in it.
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder_ / "")) {
      if (entry.is_regular_file()) all.push_back(std::filesystem::relative(entry.path(), folder_ / ""));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  PerfettoTrace trace(std::string const& name) const {
    PerfettoTrace read = PerfettoTrace::read(folder_.read(name));
    EXPECT_THAT(read.problems, IsEmpty());
    return read;
  }
  static std::vector<std::string> names(testlog_test::PerfettoRow const& row) {
    std::vector<std::string> all;
    for (auto const& slice : row.slices) all.push_back(std::string(slice.depth, ' ') + slice.name);
    return all;
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(ProfilesOfTests, HaveTheProgramWithItsTests) {
  Variables const variables{{"TRACE_PERFETTO", folder_ / "a.pftrace"}, {"TRACE_XPLANE", folder_ / "a.xplane.pb"}};
  Outcome const outcome = run_scenarios("Plain.Passes:Settings.None", variables);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, run_scenarios("Plain.Passes:Settings.None", {}).err) << "nothing is reported";
  PerfettoTrace const perfetto = trace("a.pftrace");
  EXPECT_EQ(perfetto.row("testlog_scenarios").kind, "process");
  EXPECT_THAT(names(perfetto.row("tests")), ElementsAre("Plain.Passes", "Settings.None"));
  EXPECT_THAT(names(perfetto.row("main")), Contains("launch").Times(2));
  XplaneProfile const xplane = XplaneProfile::read(folder_.read("a.xplane.pb"));
  EXPECT_THAT(xplane.problems, IsEmpty());
  auto const& events = xplane.line("main").events;
  ASSERT_EQ(events.size(), perfetto.row("main").slices.size() + 2);
  EXPECT_EQ(events[0].name, "Plain.Passes");
  EXPECT_EQ(events[0].args.at("step_num"), "1");
  EXPECT_EQ(events[1].name, "launch");
  EXPECT_EQ(events[1].depth, 1u);
}

TEST_F(ProfilesOfTests, HaveAFileForEachTestInAFolder) {
  run_scenarios("Plain.Passes:Settings.None", {{"TRACE_PERFETTO", folder_ / ""}, {"SCENARIO_OUTSIDE", "1"}});
  EXPECT_THAT(files(), ElementsAre("Plain.Passes.pftrace", "Settings.None.pftrace", "outside_tests.pftrace"));
  PerfettoTrace const test = trace("Settings.None.pftrace");
  EXPECT_EQ(test.row("Settings.None").kind, "process");
  EXPECT_THAT(names(test.row("tests")), ElementsAre("Settings.None"));
  EXPECT_THAT(names(test.row("main")), Contains("launch").Times(1));
  PerfettoTrace const outside = trace("outside_tests.pftrace");
  EXPECT_THAT(names(outside.row("main")), Contains("environment torn down"));
  EXPECT_THAT(names(outside.row("main")), Not(Contains("launch")));
}

TEST_F(ProfilesOfTests, AreWhereXprofLooksForThem) {
  run_scenarios("Plain.Passes", {{"TRACE_XPLANE", folder_ / "logs/"}});
  ASSERT_THAT(files(), ElementsAre(MatchesRegex("logs/plugins/profile/[0-9_]+/Plain.Passes.xplane.pb")));
  XplaneProfile const profile = XplaneProfile::read(folder_.read(files().front()));
  EXPECT_THAT(profile.problems, IsEmpty());
  EXPECT_EQ(profile.hostname, "Plain.Passes");
  run_scenarios("Plain.Passes", {{"TRACE_XPLANE", folder_ / "logs/plugins/profile/mine/"}});
  EXPECT_THAT(files(), Contains("logs/plugins/profile/mine/Plain.Passes.xplane.pb"));
}

TEST_F(ProfilesOfTests, FillInTestAndProcess) {
  run_scenarios("Plain.Passes", {{"TRACE_PERFETTO", folder_ / "%t-%p.pftrace"}});
  EXPECT_THAT(files(), ElementsAre(MatchesRegex("Plain.Passes-[0-9]+.pftrace")));
}

TEST_F(ProfilesOfTests, DoNotReplaceAFile) {
  folder_.write("a.pftrace", "old");
  Outcome const outcome = run_scenarios("Plain.Passes", {{"TRACE_PERFETTO", folder_ / "a.pftrace"}});
  EXPECT_THAT(outcome.err, HasSubstr("testlog: TRACE_PERFETTO: " + (folder_ / "a.pftrace") + " already exists; wrote " +
                                     (folder_ / "a.")));
  ASSERT_THAT(files(), ElementsAre(MatchesRegex("a.[0-9]+.pftrace"), "a.pftrace"));
  EXPECT_EQ(folder_.read("a.pftrace"), "old");
  EXPECT_THAT(names(trace(files().front()).row("tests")), ElementsAre("Plain.Passes"));
}

TEST_F(ProfilesOfTests, ReportWriteErrorsAndFailNoTest) {
  Outcome const outcome =
      run_scenarios("Plain.Passes", {{"TRACE_PERFETTO", folder_ / "none/a.pftrace"}, {"TRACE_XPLANE", "/dev/full"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("testlog: TRACE_PERFETTO=" + (folder_ / "none/a.pftrace") +
                                     ": could not be opened: No such file or directory"));
  EXPECT_THAT(outcome.err, HasSubstr("testlog: TRACE_XPLANE=/dev/full: could not be written: No space left on device"));
}

TEST_F(ProfilesOfTests, HaveWhatTraceCaptureSelects) {
  run_scenarios("Plain.Passes", {{"TRACE_PERFETTO", folder_ / "all.pftrace"}, {"TRACE_CAPTURE", "off"}});
  run_scenarios("Plain.Passes", {{"TRACE_PERFETTO", folder_ / "info.pftrace"}, {"TRACE_CAPTURE", "info"}});
  EXPECT_THAT(names(trace("all.pftrace").row("main")), Contains(" compile"));
  EXPECT_THAT(names(trace("info.pftrace").row("main")), Not(Contains(" compile")));
}

TEST_F(ProfilesOfTests, DoNotExistAfterACrash) {
  testlog::testdata::run_dying("Dies.ByAbort",
                               {{"TRACE_PERFETTO", folder_ / "a.pftrace"}, {"TRACE_RECORD", folder_ / "a.rec"}});
  EXPECT_THAT(files(), ElementsAre("a.rec"));
}

TEST_F(ProfilesOfTests, HaveTheTestInWhichTheProgramCalledExit) {
  run_scenarios("Dies.ByExit", {{"TRACE_PERFETTO", folder_ / "%t.pftrace"}});
  EXPECT_THAT(names(trace("Dies.ByExit.pftrace").row("tests")), ElementsAre("Dies.ByExit"));
}

TEST_F(ProfilesOfTests, AreNotWrittenByChildren) {
  run_scenarios("Dies.InChildrenThatExit", {{"TRACE_PERFETTO", folder_ / "%p.pftrace"}});
  EXPECT_THAT(files(), testing::SizeIs(1));
  run_scenarios("Dies.InChildrenThatExit", {{"TRACE_PERFETTO", folder_ / "%p.pftrace"}},
                {"--gtest_death_test_style=threadsafe"});
  EXPECT_THAT(files(), testing::SizeIs(2));
}

TEST_F(ProfilesOfTests, AreWrittenByOtherProgramsWithTheirName) {
  Outcome const outcome = testlog::testdata::run(
      {INIT_SCENARIOS},
      {{"TRACE_PERFETTO", folder_ / "one.pftrace"}, {"TRACE_XPLANE", folder_ / "logs/"}, {"TRACE_FILTER", "off"}});
  EXPECT_EQ(outcome.err, "");
  ASSERT_THAT(files(), ElementsAre(MatchesRegex("logs/plugins/profile/[0-9_]+/tracing_init_scenarios.xplane.pb"),
                                   "one.pftrace"));
  EXPECT_THAT(names(trace("one.pftrace").row("main")), ElementsAre("request", " preparing", " done"));
  EXPECT_EQ(trace("one.pftrace").row("tracing_init_scenarios").kind, "process");
  EXPECT_THAT(XplaneProfile::read(folder_.read(files().front())).problems, IsEmpty());
}

}  // namespace
