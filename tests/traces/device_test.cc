// A test that runs kernels on the CPU backend, as text and as a trace: the work of its streams, and the launch to which
// each kernel belongs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
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

// ---- as spans of OpenTelemetry ----

using OtlpSpans = std::map<std::string, nlohmann::json>;  // by id

OtlpSpans otlp_spans_in(std::string const& lines) {
  OtlpSpans spans;
  std::istringstream from(lines);
  for (std::string line; std::getline(from, line);) {
    auto const request = nlohmann::json::parse(line);
    for (auto const& of_resource : request["resourceSpans"])
      for (auto const& of_scope : of_resource["scopeSpans"])
        for (auto const& span : of_scope["spans"]) spans[span["spanId"]] = span;
  }
  return spans;
}

// Returns the text or number of an attribute; empty if there is none.
std::string attribute(nlohmann::json const& span, std::string const& key) {
  for (auto const& one : span.value("attributes", nlohmann::json::array()))
    if (one["key"] == key) return one["value"].begin().value();
  return "";
}

// Checks that each span of a device is on the track of its stream and links to the call that gave the work. Returns how
// many runs of kernels there are, by the stream.
std::map<std::string, int> check_device_spans(OtlpSpans const& spans) {
  std::map<std::string, int> kernels;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> times;  // by track; all have as many digits
  for (auto const& [id, span] : spans) {
    if (attribute(span, "testlog.target") != "tracing::cuda::device") continue;
    std::string const track = attribute(span, "testlog.track"), name = span["name"];
    EXPECT_EQ(track, "GPU " + attribute(span, "device") + " stream " + attribute(span, "stream")) << name;
    times[track].emplace_back(span["startTimeUnixNano"], span["endTimeUnixNano"]);
    EXPECT_EQ(span["links"].size(), 1u) << name;
    auto const call = spans.find(span["links"][0]["spanId"]);
    EXPECT_NE(call, spans.end()) << "nothing gave " << name << " to its stream";
    if (call == spans.end()) continue;
    EXPECT_EQ(call->second["traceId"], span["links"][0]["traceId"]);
    EXPECT_EQ(call->second["traceId"], span["traceId"]);
    EXPECT_EQ(attribute(call->second, "testlog.track"), "") << "the call is on a thread";
    EXPECT_LE(call->second["startTimeUnixNano"].get<std::string>(), times[track].back().first);
    if (attribute(span, "kernel.name").empty()) continue;
    ++kernels[attribute(span, "stream")];
    EXPECT_EQ(name, attribute(span, "kernel.name"));
    EXPECT_EQ(call->second["name"], "launch");
    for (char const* const key : {"launch", "kernel.name", "stream", "grid"})
      EXPECT_EQ(attribute(call->second, key), attribute(span, key)) << key;
  }
  for (auto& [track, of_track] : times) {
    std::ranges::sort(of_track);
    for (std::size_t i = 1; i < of_track.size(); ++i)
      EXPECT_LE(of_track[i - 1].second, of_track[i].first) << "a stream does one thing at a time: " << track;
  }
  return kernels;
}

TEST_F(DeviceTrace, HasSpansOfOpenTelemetryThatLinkToTheLaunches) {
  OtlpSpans const spans = otlp_spans_in(run_command({"export", file_, "--otlp"}).out);
  EXPECT_THAT(check_device_spans(spans), ElementsAre(std::pair("1", 1), std::pair("2", 1)));
  for (auto const& [id, span] : spans) {
    if (attribute(span, "testlog.target") != "tracing::cuda::device") continue;
    EXPECT_EQ(spans.at(span["parentSpanId"])["name"], "Scenario.UsesTwoStreams") << "in the trace of its test";
  }
}

// A CUDA program that says nothing of testlog.
TEST(DeviceTraceOfAProgram, HasSpansOfOpenTelemetryThatLinkToTheLaunches) {
#ifdef CUDA_CPU_GRAPHS
  tracing_test::TemporaryFolder const folder;
  Outcome const ran = testlog::testdata::run({CUDA_CPU_GRAPHS}, {{"TRACE_RECORD", folder / "run.rec"}});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  Outcome const made = testlog::testdata::run({TESTLOG_COMMAND, "export", folder / "run.rec", "--otlp"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  auto const kernels = check_device_spans(otlp_spans_in(made.out));
  EXPECT_GE(kernels.size(), 3u) << "streams";
  EXPECT_GT(kernels.at("1"), 1);
#else
  GTEST_SKIP() << "nvcc is missing";
#endif
}

TEST_F(DeviceTrace, HasNoLines) {
  std::string const shown = run_command({"show", file_}).out;
  EXPECT_THAT(shown, HasSubstr("launch{kernel.name=saxpy "));
  EXPECT_THAT(shown, Not(HasSubstr("kernel{kernel.name=saxpy ")));
}

}  // namespace
