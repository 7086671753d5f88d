// `testlog export --perfetto x.tar`: one timeline of the processes of a run, or of a farm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/record_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/traces/perfetto_archive.h"
#include "tests/traces/perfetto_reader.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/tracing.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using testlog::testdata::Outcome;
using testlog_test::PerfettoArchive;
using testlog_test::PerfettoManifest;
using testlog_test::PerfettoRow;
using testlog_test::PerfettoSlice;
using testlog_test::PerfettoTrace;
using tracing_test::kMs;
using tracing_test::kStart;
using tracing_test::RecordedProcess;

class Timeline : public testing::Test {
 protected:
  std::string record(std::string const& name, RecordedProcess const& process) const {
    std::filesystem::create_directories((std::filesystem::path(folder_ / name)).parent_path());
    return tracing_test::record_process(folder_ / name, process);
  }
  Outcome run_export(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {TESTLOG_COMMAND, "export"});
    return testlog::testdata::run(arguments);
  }
  // Exports to timeline.tar, and reads it.
  PerfettoArchive archive_of(std::vector<std::string> arguments, std::string* said = nullptr) const {
    arguments.insert(arguments.end(), {"--perfetto", folder_ / "timeline.tar"});
    Outcome const outcome = run_export(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    std::string ignored;
    (said == nullptr ? ignored : *said) = outcome.err;
    EXPECT_EQ(ignored, "");
    PerfettoArchive archive = PerfettoArchive::read(folder_.read("timeline.tar"));
    EXPECT_THAT(archive.problems, IsEmpty());
    return archive;
  }

  tracing_test::TemporaryFolder const folder_;
};

PerfettoRow const& process_row(PerfettoTrace const& trace) {
  static PerfettoRow const none;
  for (auto const& [id, row] : trace.rows)
    if (row.kind == "process") return row;
  return none;
}

// Returns the names of all processes, of the slots, too.
std::multiset<std::string> process_names(PerfettoArchive const& archive) {
  std::multiset<std::string> names;
  for (auto const& [path, trace] : archive.traces)
    for (auto const& [id, row] : trace.rows)
      if (row.kind == "process") names.insert(row.name);
  return names;
}

// Returns the trace of the slots of a run; an empty one if it is not there.
PerfettoTrace const& slots_of(PerfettoArchive const& archive, std::string const& run) {
  static PerfettoTrace const none;
  for (auto const& [path, trace] : archive.traces)
    if (process_row(trace).name.starts_with("ctest " + run)) return trace;
  return none;
}

std::vector<std::string> names_in(PerfettoRow const& row) {
  std::vector<std::string> names;
  for (PerfettoSlice const& slice : row.slices) names.push_back(slice.name);
  return names;
}

// Counts slices and marks that show what was recorded.
std::size_t count_slices(PerfettoTrace const& trace) {
  std::size_t count = 0;
  for (auto const& [id, row] : trace.rows)
    if (row.name != "start") count += row.slices.size();
  return count;
}

void do_work() {
  TRACE_SPAN(info, "request", tracing::kv("id", 7));
  { TRACE_SPAN(debug, "load"); }
  TRACE_WARN("slow");
}

// ---- the farm: 8 hosts, each with a shard of the tests, and with a clock of its own ----

constexpr int kHosts = 8;

struct Farm {
  std::vector<std::string> folders;
  std::vector<std::pair<std::string, RecordedProcess>> processes;
};

// Records what a host runs: three tests at two slots, of which one fails first and then passes.
void add_host(Farm& farm, tracing_test::TemporaryFolder const& folder, int number) {
  std::string const shard = "shard-" + std::to_string(number);
  std::filesystem::create_directory(folder / shard);
  farm.folders.push_back(folder / shard);
  std::int64_t const skew = number * 7'000;  // ms
  // Two hosts have one name, and two containers of one machine have one boot id.
  RecordedProcess process{.host = number < 2 ? "runner" : "host-" + std::to_string(number),
                          .boot = number > 5 ? "b0000000" : "b000000" + std::to_string(number),
                          .run = "4711-96231"};
  struct {
    char const *file, *test, *result;
    std::int64_t begin, end;
  } const tests[] = {{"a", "Pool.Grows", "passed", 0, 40},
                     {"b.20260108-235609-977.attempt-1", "Pool.Waits", "failed", 1, 20},
                     {"b", "Pool.Waits", "passed", 21, 50},
                     {"c", "Pool.Drains", "passed", 41, 90}};
  for (auto const& test : tests) {
    process.pid = 100;  // as in containers
    process.test = test.test + std::to_string(number);
    process.result = test.result;
    process.begin = skew + test.begin;
    process.end = skew + test.end;
    process.body = do_work;
    std::string const path = folder / (shard + "/" + test.file + ".rec");
    farm.processes.emplace_back(tracing_test::record_process(path, process), process);
  }
}

Farm make_farm(tracing_test::TemporaryFolder const& folder) {
  Farm farm;
  for (int i = 0; i < kHosts; ++i) add_host(farm, folder, i);
  return farm;
}

TEST_F(Timeline, HasTheProcessesOfAFarm) {
  Farm const farm = make_farm(folder_);
  PerfettoArchive const archive = archive_of(farm.folders);
  EXPECT_THAT(archive.traces, SizeIs(farm.processes.size() + kHosts)) << "a file for each process, and for each ctest";
  std::set<std::string> machines;
  for (PerfettoManifest::File const& file : archive.manifest.files) machines.insert(file.machine);
  EXPECT_THAT(machines, UnorderedElementsAre("runner (boot b0000000)", "runner (boot b0000001)", "host-2", "host-3",
                                             "host-4", "host-5", "host-6", "host-7"));
  auto const names = process_names(archive);
  EXPECT_THAT(names, AllOf(Contains("Pool.Grows1 @ runner (boot b0000001)"), Contains("Pool.Drains7 @ host-7"),
                           Contains("ctest 4711-96231 @ host-2")));
  EXPECT_EQ(names.count("Pool.Waits3 @ host-3"), 2u) << "both attempts";
}

TEST_F(Timeline, HasTheSlicesOfTheSingleExports) {
  Farm const farm = make_farm(folder_);
  PerfettoArchive const archive = archive_of(farm.folders);
  std::size_t sum = 0, count = 0;
  for (auto const& [path, process] : farm.processes)
    sum += count_slices(PerfettoTrace::read(run_export({path, "--perfetto"}).out));
  for (auto const& [path, trace] : archive.traces)
    if (!process_row(trace).name.starts_with("ctest ")) count += count_slices(trace);
  EXPECT_EQ(count, sum);
  EXPECT_EQ(count, farm.processes.size() * 4) << "a test, two spans and an event in each";
}

TEST_F(Timeline, KeepsTheTimesOfEachMachine) {
  Farm const farm = make_farm(folder_);
  PerfettoArchive const archive = archive_of(farm.folders);
  std::multiset<std::uint64_t> recorded, shown;
  for (auto const& [path, process] : farm.processes)
    recorded.insert(static_cast<std::uint64_t>(kStart + process.begin * kMs));
  for (auto const& [path, trace] : archive.traces)
    for (PerfettoSlice const& slice : trace.row("tests").slices) shown.insert(slice.begin);
  EXPECT_EQ(shown, recorded);
}

TEST_F(Timeline, NumbersTheProcessesOfAMachine) {
  PerfettoArchive const archive = archive_of(make_farm(folder_).folders);
  std::set<std::pair<std::string, std::int64_t>> numbers;
  for (auto const& [path, trace] : archive.traces) {
    PerfettoRow const& row = process_row(trace);
    EXPECT_TRUE(numbers.insert({archive.machine_of(path), row.number}).second) << row.name << " " << row.number;
  }
}

TEST_F(Timeline, HasARowForEachSlotOfACtest) {
  PerfettoArchive const archive = archive_of(make_farm(folder_).folders);
  std::size_t runs = 0;
  for (auto const& [path, trace] : archive.traces) {
    if (!process_row(trace).name.starts_with("ctest ")) continue;
    ++runs;
    EXPECT_THAT(names_in(trace.row("slot 1")), ElementsAre(StartsWith("Pool.Grows"), StartsWith("Pool.Drains")));
    EXPECT_THAT(names_in(trace.row("slot 2")), ElementsAre(StartsWith("Pool.Waits"), StartsWith("Pool.Waits")));
    EXPECT_THAT(trace.row("slot 3").slices, IsEmpty());
    EXPECT_THAT(trace.row("slot 2").slices[0].categories, ElementsAre("failed"));
    EXPECT_THAT(trace.row("slot 2").slices[1].categories, ElementsAre("passed"));
    for (PerfettoSlice const& slice : trace.row("slot 1").slices) EXPECT_EQ(slice.depth, 0u);
  }
  EXPECT_EQ(runs, 8u);
}

TEST_F(Timeline, ReadsATarOfRecordings) {
  Farm const farm = make_farm(folder_);
  for (std::string const shard : {"shard-0", "shard-1"})
    testlog::testdata::run(
        {"/bin/sh", "-c", "tar -cf \"$0\" -C \"$1\" .", folder_ / (shard + ".tar"), folder_ / shard});
  PerfettoArchive const archive = archive_of({folder_ / "shard-0.tar", folder_ / "shard-1.tar"});
  EXPECT_THAT(archive.traces, SizeIs(10));
}

// ---- processes that tests start ----

TEST_F(Timeline, HasAnArrowFromASpanToTheProcessThatItStarted) {
  RecordedProcess parent{.host = "a", .run = "1-1", .pid = 10, .test = "Tool.Runs", .end = 50};
  parent.body = [] {
    TRACE_SPAN(info, "other");
    TRACE_SPAN(info, "spawn");
  };
  std::string const path = record("parent.rec", parent);
  RecordedProcess child{.host = "a", .traceparent = tracing_test::traceparent_in(path, parent, "spawn")};
  child.pid = 11, child.begin = 5, child.end = 20, child.body = do_work;
  PerfettoArchive const archive = archive_of({path, record("child.rec", child)});
  ASSERT_THAT(archive.traces, SizeIs(1)) << "viewers draw arrows within a file only";
  PerfettoTrace const& trace = archive.traces.begin()->second;
  EXPECT_EQ(archive.traces.begin()->first, "Tool.Runs.pftrace");
  PerfettoRow const& start = trace.row("start");
  EXPECT_EQ(trace.rows.at(start.parent).name, "child @ a");
  EXPECT_THAT(names_in(start), ElementsAre("started by spawn"));
  EXPECT_EQ(start.slices[0].begin, static_cast<std::uint64_t>(kStart + 5 * kMs));
  EXPECT_THAT(start.slices[0].flows, SizeIs(1));
  for (auto const& [id, row] : trace.rows) {
    for (PerfettoSlice const& slice : row.slices) {
      bool const has_arrow = slice.name == "spawn" || slice.name == "started by spawn";
      EXPECT_EQ(slice.flows, has_arrow ? start.slices[0].flows : std::vector<std::uint64_t>()) << slice.name;
    }
  }
}

TEST_F(Timeline, HasAnArrowForEachProcessThatATestStarted) {
  RecordedProcess parent{.host = "a", .run = "1-1", .pid = 10, .test = "Tool.Runs", .end = 50};
  std::string const path = record("parent.rec", parent);
  tracing::environment::TraceIds const ids({parent.pid, kStart, parent.run, parent.host, ""});
  std::vector<std::string> files{path};
  for (int i = 0; i < 2; ++i) {
    RecordedProcess child{.host = "a",
                          .traceparent = tracing::environment::TraceParent{ids.trace_of(1), ids.around(1)}.text()};
    child.begin = 5 + i, child.end = 20;
    files.push_back(record("child" + std::to_string(i) + ".rec", child));
  }
  PerfettoArchive const archive = archive_of(files);
  ASSERT_THAT(archive.traces, SizeIs(1));
  PerfettoTrace const& trace = archive.traces.begin()->second;
  std::vector<std::uint64_t> ends;
  for (auto const& [id, row] : trace.rows)
    if (row.name == "start") ends.insert(ends.end(), row.slices.at(0).flows.begin(), row.slices.at(0).flows.end());
  EXPECT_THAT(trace.row("tests").slices.at(0).flows, testing::UnorderedElementsAreArray(ends));
  EXPECT_THAT(std::set(ends.begin(), ends.end()), SizeIs(2)) << "no arrow from one child to the other";
}

TEST_F(Timeline, SaysThatClocksDiffer) {
  RecordedProcess parent{.host = "a", .run = "1-1", .pid = 10, .test = "Tool.Runs", .begin = 1000, .end = 3000};
  parent.body = [] { TRACE_SPAN(info, "spawn"); };
  std::string const path = record("parent.rec", parent);
  RecordedProcess child{.host = "b", .traceparent = tracing_test::traceparent_in(path, parent, "spawn")};
  child.begin = -500, child.end = 700, child.body = do_work;
  std::string said;
  PerfettoArchive const archive = archive_of({path, record("child.rec", child)}, &said);
  EXPECT_EQ(said,
            "testlog export: the clock of b is at least 1.500 s behind the clock of a: child began before spawn, which "
            "started it; times are as recorded\n");
  ASSERT_THAT(archive.traces, SizeIs(2)) << "machines are in files of their own";
  PerfettoTrace const& trace = archive.traces.at("child.pftrace");
  EXPECT_EQ(trace.row("start").slices.at(0).begin, static_cast<std::uint64_t>(kStart - 500 * kMs));
  EXPECT_EQ(trace.row("start").slices.at(0).name, "started by spawn");
  EXPECT_THAT(trace.row("start").slices.at(0).flows, IsEmpty());
}

TEST_F(Timeline, SaysNothingOfClocksThatMayAgree) {
  RecordedProcess parent{.host = "a", .run = "1-1", .pid = 10, .test = "Tool.Runs", .end = 3000};
  parent.body = [] { TRACE_SPAN(info, "spawn"); };
  std::string const path = record("parent.rec", parent);
  RecordedProcess child{.host = "b", .traceparent = tracing_test::traceparent_in(path, parent, "spawn")};
  child.begin = 900'000, child.end = 900'001;
  archive_of({path, record("child.rec", child)});
}

// ---- what is in the TAR ----

TEST_F(Timeline, HasTheTestsThatFailedFirstIfThereAreTooMany) {
  std::vector<std::string> files;
  for (int i = 0; i < 6; ++i) {
    RecordedProcess process{.host = "a", .run = "1-1", .test = "T.N" + std::to_string(i), .begin = i * 100};
    process.result = i == 4 ? "failed" : "passed";
    process.end = process.begin + (i == 2 ? 90 : 10 + i);
    files.push_back(record(process.test + ".rec", process));
  }
  std::string said;
  files.insert(files.end(), {"--top", "2"});
  PerfettoArchive const archive = archive_of(files, &said);
  EXPECT_THAT(process_names(archive), UnorderedElementsAre("T.N2 @ a", "T.N4 @ a", "ctest 1-1 @ a"));
  EXPECT_THAT(slots_of(archive, "1-1").row("slot 1").slices, SizeIs(6)) << "the slots have all tests";
  EXPECT_EQ(said,
            "testlog export: the TAR has 2 of 6 recordings: those of tests that failed, and then of those that took "
            "longest; --top selects more\n");
}

TEST_F(Timeline, HasTopForATarOnly) {
  std::string const file = record("a.rec", {.host = "a", .test = "T.A", .end = 9});
  Outcome const outcome = run_export({file, "--top", "2", "--perfetto", folder_ / "a.pftrace"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--top is about a TAR; expected --perfetto and a name that ends in .tar\n"));
}

TEST_F(Timeline, NamesItsFilesAsPerfettoReadsThem) {
  std::vector<std::string> files;
  for (std::string const& name : std::vector<std::string>{"a b/\xff", "..hidden", std::string(200, 'x'), "a_b/\xff"}) {
    RecordedProcess const process{.host = "a", .run = "1-1", .test = name, .end = 9};
    files.push_back(record(std::to_string(files.size()) + ".rec", process));
  }
  PerfettoArchive const archive = archive_of(files);
  std::vector<std::string> names;
  for (auto const& [path, trace] : archive.traces) names.push_back(path);
  EXPECT_THAT(names, UnorderedElementsAre("a_b__.pftrace", "a_b__.2.pftrace", "_..hidden.pftrace",
                                          std::string(76, 'x') + ".pftrace", "slots.pftrace"));
}

TEST_F(Timeline, ReplacesATimelineButNoRecordings) {
  std::string const file = record("in/a.rec", {.host = "a", .test = "T.A", .end = 9});
  archive_of({file});
  archive_of({file});
  testlog::testdata::run({"/bin/sh", "-c", "tar -cf \"$0\" -C \"$1\" .", folder_ / "timeline.tar", folder_ / "in"});
  Outcome const outcome = run_export({file, "--perfetto", folder_ / "timeline.tar"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the output would overwrite the recording"));
}

TEST_F(Timeline, WritesWhatItCouldRead) {
  std::string const file = record("a.rec", {.host = "a", .test = "T.A", .end = 9});
  std::ofstream(folder_ / "b.rec") << "no recording";
  Outcome const outcome = run_export({file, folder_ / "b.rec", "--perfetto", folder_ / "timeline.tar"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("b.rec"));
  EXPECT_THAT(PerfettoArchive::read(folder_.read("timeline.tar")).traces, SizeIs(1));
}

TEST_F(Timeline, ObeysTheFilter) {
  std::string const file = record("a.rec", {.host = "a", .test = "T.A", .end = 9, .body = do_work});
  EXPECT_THAT(names_in(archive_of({file, "--filter", "info"}).traces.at("T.A.pftrace").row("main")),
              Not(Contains("load")));
}

// ---- a run in a build folder ----

// Writes what a ctest of two tests leaves in a build folder: the log of the run, and the recording of the test that
// failed.
void run_ctest(std::string const& build) {
  using tracing::Instant;
  using tracing::environment::Run;
  std::string const folder = build + "/Testing/Temporary/testlog";
  std::filesystem::create_directories(folder);
  tracing::environment::RunLog const log(folder);
  Run const first{.id = "77-1", .is_ctest = true, .process = "78-1"}, second{.id = "77-1", .process = "79-1"};
  log.begin(first, "lib_test.Pool.Grows.rec", Instant{kStart});
  log.begin(second, "lib_test.Pool.Waits.rec", Instant{kStart + 2 * kMs});
  RecordedProcess waits{.host = "a", .run = "77-1", .pid = 79, .test = "Pool.Waits", .result = "failed"};
  waits.begin = 3;
  waits.end = 20;
  tracing_test::record_process(folder + "/lib_test.Pool.Waits.rec", waits);
  log.end(second, "lib_test.Pool.Waits.rec", Instant{kStart + 21 * kMs}, {.passed = false, .failed = 1});
  log.end(first, "lib_test.Pool.Grows.rec", Instant{kStart + 30 * kMs}, {});
}

Outcome in_folder(std::string const& folder, std::string const& command) {
  return testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && \"$1\" " + command, folder, TESTLOG_COMMAND});
}

TEST_F(Timeline, HasTheTestsThatLeftNoRecording) {
  run_ctest(folder_ / "build");
  Outcome const outcome = in_folder(folder_ / "build", "export --perfetto x.tar");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.err,
      "testlog export: 1 test left no recording, so the timeline has only the slot; after TRACE_RECORD_KEEP=all ctest, "
      "all tests leave one\n");
  PerfettoArchive const archive = PerfettoArchive::read(folder_.read("build/x.tar"));
  EXPECT_THAT(archive.problems, IsEmpty());
  EXPECT_THAT(process_names(archive), UnorderedElementsAre("ctest 77-1 @ a", "Pool.Waits @ a"));
  PerfettoTrace const& slots = slots_of(archive, "77-1");
  ASSERT_THAT(names_in(slots.row("slot 1")), ElementsAre("Pool.Grows"));
  EXPECT_EQ(slots.row("slot 1").slices[0].begin, static_cast<std::uint64_t>(kStart));
  EXPECT_EQ(slots.row("slot 1").slices[0].end, static_cast<std::uint64_t>(kStart + 30 * kMs));
  ASSERT_THAT(names_in(slots.row("slot 2")), ElementsAre("Pool.Waits"));
  EXPECT_EQ(slots.row("slot 2").slices[0].begin, static_cast<std::uint64_t>(kStart + 2 * kMs)) << "as the log says";
  EXPECT_THAT(in_folder(folder_ / "build", "slow --critical").out,
              HasSubstr("run 77-1 on a: 2 tests in 30.000 ms, 2 slots, idle for 11.000 ms (18%)\n"));
}

TEST_F(Timeline, ShowsARunThatLeftNoRecordings) {
  run_ctest(folder_ / "build");
  std::filesystem::remove(folder_ / "build/Testing/Temporary/testlog/lib_test.Pool.Waits.rec");
  EXPECT_THAT(in_folder(folder_ / "build", "slow --critical").out, HasSubstr(": 2 tests in 30.000 ms, 2 slots"));
  EXPECT_EQ(in_folder(folder_ / "build", "export --perfetto x.tar").exit_code, 0);
  PerfettoArchive const archive = PerfettoArchive::read(folder_.read("build/x.tar"));
  EXPECT_THAT(archive.problems, IsEmpty());
  EXPECT_THAT(archive.traces, SizeIs(1));
}

TEST_F(Timeline, HasTheTraceOfCmake) {
  std::string const build = folder_ / "build", trace = build + "/.cmake/instrumentation/v1/data/trace/";
  run_ctest(build);
  std::filesystem::create_directories(trace);
  std::string const cmake = R"([{"cat":"test","dur":9000,"name":"test: two","ph":"X","pid":0,"tid":1,"ts":1}])";
  std::ofstream(trace + "trace-1.json") << cmake;
  EXPECT_EQ(in_folder(build, "export --perfetto x.tar").exit_code, 0);
  PerfettoArchive const archive = PerfettoArchive::read(folder_.read("build/x.tar"));
  EXPECT_THAT(archive.problems, IsEmpty());
  ASSERT_TRUE(archive.files.contains("cmake-trace-1.json"));
  EXPECT_EQ(archive.files.at("cmake-trace-1.json"), cmake);
  PerfettoManifest::File const& last = archive.manifest.files.back();
  EXPECT_EQ(last.path, "cmake-trace-1.json");
  EXPECT_EQ(last.clock, "REALTIME");
  EXPECT_EQ(last.clock_of, archive.manifest.files.front().path);
}

// ---- the reader that these tests rely on ----

TEST(PerfettoManifestReader, FindsWhatTheGrammarForbids) {
  auto const problems = [](std::string const& manifest) {
    return PerfettoManifest::read(R"({"perfetto_manifest":)" + manifest + "}", {"a.pftrace", "b.json"}).problems;
  };
  EXPECT_THAT(problems(R"({"version":1,"trace_time":{"clock":"BOOTTIME","file":"a.pftrace"},
      "files":[{"path":"a.pftrace","machine":{"name":"m"}},
               {"path":"b.json","clocks":{"sync_to":{"file":"a.pftrace","clock":"REALTIME"},"offset_ns":-5}}]})"),
              IsEmpty());
  for (std::string const bad :
       {R"({})",
        R"({"version":2})",
        R"({"version":1.5})",
        R"({"version":1,"more":1})",
        R"({"version":1,"files":{}})",
        R"({"version":1,"files":[{}]})",
        R"({"version":1,"files":[{"path":"c.json"}]})",
        R"({"version":1,"files":[{"path":"b.json"},{"path":"b.json"}]})",
        R"({"version":1,"files":[{"path":"b.json","machine":"m"}]})",
        R"({"version":1,"files":[{"path":"b.json","machine":{"name":""}}]})",
        R"({"version":1,"files":[{"path":"b.json","machine":{"name":"m"},"machines":[]}]})",
        R"({"version":1,"files":[{"path":"b.json","machines":[{"id":-1,"name":"m"}]}]})",
        R"({"version":1,"files":[{"path":"b.json","clocks":{}}]})",
        R"({"version":1,"files":[{"path":"b.json","clocks":{"sync_to":{"clock":"REALTIME"}}}]})",
        R"({"version":1,"files":[{"path":"b.json","clocks":{"sync_to":{"file":"a.pftrace"}}}]})",
        R"({"version":1,"files":[{"path":"b.json","clocks":{"sync_to":{"file":"b.json","clock":"TAI"}}}]})",
        R"({"version":1,"files":[{"path":"b.json","clocks":{"sync_to":{"file":"b.json"},"offset_ns":"1"}}]})",
        R"({"version":1,"files":[{"path":"a.pftrace","clocks":{"sync_to":{"file":"a.pftrace"}}}]})",
        R"({"version":1,"trace_time":{}})",
        R"({"version":1,"trace_time":{"clock":"BOOTIME"}})",
        R"({"version":1,"attributes":{"a":[]}})"})
    EXPECT_THAT(problems(bad), Not(IsEmpty())) << bad;
}

}  // namespace
