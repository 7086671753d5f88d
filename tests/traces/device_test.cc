// A test that runs kernels on the CPU backend, as text and as a trace: the work of its streams, and the launch to which
// each kernel belongs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/traces/perfetto_reader.h"
#include "tests/traces/xplane_reader.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testlog::testdata::Outcome;
using testlog_test::PerfettoRow;
using testlog_test::PerfettoSlice;
using testlog_test::PerfettoTrace;
using testlog_test::XplaneEvent;
using testlog_test::XplaneProfile;

class DeviceTrace : public testing::Test {
 protected:
  void SetUp() override {
    Outcome const outcome = testlog::testdata::run({CUDA_TESTS_SCENARIOS, "--gtest_filter=Scenario.UsesTwoStreams"},
                                                   {{"TRACE_RECORD", file_}, {"TRACE_SHOW", "none"}});
    if (outcome.exit_code != 0 && outcome.out.find("No NVRTC") != outcome.out.npos) GTEST_SKIP() << outcome.out;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
  static Outcome run_command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TESTLOG_COMMAND);
    Outcome outcome = testlog::testdata::run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }

  tracing_test::TemporaryFolder const folder_;
  std::string const file_ = folder_ / "run.rec";
};

std::vector<std::string> names(PerfettoRow const& row) {
  std::vector<std::string> all;
  for (PerfettoSlice const& slice : row.slices) all.push_back(slice.name);
  return all;
}

TEST_F(DeviceTrace, HasARowForEachStreamWithArrowsFromTheLaunches) {
  run_command({"export", file_, "--perfetto", folder_ / "out.pftrace"});
  PerfettoTrace const trace = PerfettoTrace::read(folder_.read("out.pftrace"));
  EXPECT_THAT(trace.problems, IsEmpty());
  std::vector<PerfettoSlice> const& host = trace.row("main").slices;
  int kernels = 0;
  for (std::string const row : {"GPU 0 stream 1", "GPU 0 stream 2"}) {
    for (PerfettoSlice const& slice : trace.row(row).slices) {
      ASSERT_TRUE(slice.end.has_value());
      EXPECT_EQ(slice.depth, 0u) << "a stream does one thing at a time";
      ASSERT_EQ(slice.flows.size(), 1u) << row << ": " << slice.name;
      auto const call = std::ranges::find_if(host, [&](PerfettoSlice const& one) { return one.flows == slice.flows; });
      ASSERT_NE(call, host.end()) << "no arrow leads to " << slice.name;
      EXPECT_LE(call->begin, slice.begin);
      if (!slice.args.contains("launch")) continue;
      ++kernels;
      EXPECT_EQ(slice.name, "saxpy");
      EXPECT_EQ(call->name, "launch");
      EXPECT_EQ(call->args.at("launch"), slice.args.at("launch"));
      EXPECT_EQ(slice.args.at("grid"), "\"(1, 1, 1)\"");
    }
  }
  EXPECT_EQ(kernels, 2);
  EXPECT_THAT(names(trace.row("GPU 0 stream 1")), ElementsAre("memcpy_htod", "saxpy"));
}

TEST_F(DeviceTrace, HasTheTimesOfTheStatistics) {
  run_command({"export", file_, "--perfetto", folder_ / "out.pftrace"});
  PerfettoTrace const trace = PerfettoTrace::read(folder_.read("out.pftrace"));
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> slices, rows;  // calls and time by name
  for (PerfettoRow const* const row : {&trace.row("GPU 0 stream 1"), &trace.row("GPU 0 stream 2")}) {
    for (PerfettoSlice const& slice : row->slices) {
      ++slices[slice.name].first;
      slices[slice.name].second += *slice.end - slice.begin;
    }
  }
  auto const statistics = nlohmann::json::parse(run_command({"stats", file_, "--by=thread", "--json"}).out);
  for (auto const& group : statistics["groups"]) {
    if (!group["name"].get<std::string>().starts_with("GPU 0 stream ")) continue;
    EXPECT_TRUE(group["spans"].empty());
    for (auto const& row : group["kernels"]) {
      rows[row["name"]].first += row["calls"].get<std::uint64_t>();
      rows[row["name"]].second += row["total_ns"].get<std::uint64_t>();
      EXPECT_EQ(row.contains("bytes"), row["name"] != "saxpy");
      if (row["name"] != "saxpy") continue;
      EXPECT_EQ(row["grid"], "(1, 1, 1)");
      EXPECT_GT(row["registers"], 0);
    }
  }
  EXPECT_EQ(rows["saxpy"].first, 2u);
  EXPECT_EQ(rows, slices);
}

TEST_F(DeviceTrace, HasTheDetailsOfKernelsThatXprofShows) {
  run_command({"export", file_, "--xplane", folder_ / "logs"});
  std::string path;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder_ / "logs")) {
    if (entry.is_regular_file()) path = entry.path();
  }
  XplaneProfile const profile =
      XplaneProfile::read(folder_.read(std::filesystem::relative(path, folder_ / "").string()));
  EXPECT_THAT(profile.problems, IsEmpty());
  std::vector<std::string> named;
  for (XplaneEvent const& event : profile.line("Stream #1", "/device:GPU:0").events) {
    named.push_back(event.name);
    auto const details = event.args.find("kernel_details");
    ASSERT_EQ(details != event.args.end(), event.name == "saxpy");
    if (event.name != "saxpy") continue;
    EXPECT_THAT(details->second,
                MatchesRegex("\"regs:[1-9][0-9]* static_shared:0 dynamic_shared:0 grid:1,1,1 block:[0-9]+,1,1\""));
  }
  EXPECT_THAT(named, ElementsAre("memcpy_htod", "saxpy"));
}

TEST_F(DeviceTrace, HasNoLines) {
  std::string const shown = run_command({"show", file_}).out;
  EXPECT_THAT(shown, HasSubstr("launch{kernel.name=saxpy "));
  EXPECT_THAT(shown, Not(HasSubstr("kernel{kernel.name=saxpy ")));
}

}  // namespace
