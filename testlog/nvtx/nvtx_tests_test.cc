// TRACE_NVTX in a complete test program, with and without a tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_file.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

constexpr char const* kInRange =
    " INFO request{id=7}:cub::DeviceReduce::Sum{payload=100}: scenarios: in the range\n"
    " INFO request{id=7}:cub::DeviceReduce::Sum{payload=100}: nvtx: halfway\n";
constexpr char const* kInSpan = " INFO request{id=7}: scenarios: in the range\n";

constexpr char const* kTool = FAKE_NVTX_TOOL;

struct Program {
  char const* file = NVTX_SCENARIOS;
  char const* test = "Library.HasRanges";
};

Outcome run(std::string const& direction, Variables more = {}, Program const& program = {}) {
  more.emplace_back("TRACE_NVTX", direction);
  more.emplace_back("TRACE_TIME", "none");
  more.emplace_back("OPENED_LIBRARY", NVTX_OPENED);
  return testlog::testdata::run({program.file, std::string("--gtest_filter=") + program.test}, more);
}

// Runs the program as a tool runs it. `calls` becomes what the tool was told.
Outcome run_under_tool(std::string const& direction, std::string& calls) {
  tracing_test::TemporaryFile const file;
  Outcome const outcome = run(direction, {{"NVTX_INJECTION64_PATH", kTool}, {"FAKE_NVTX_OUTPUT", file.path()}});
  calls = file.text();
  return outcome;
}

constexpr char const* kCalls =
    "push testlog: reg:Library.HasRanges\n"
    "push testlog: reg:request (scenarios)\n"
    "push CCCL: reg:cub::DeviceReduce::Sum\n"
    "mark testlog: in the range (scenarios)\n"
    "pop CCCL\n"
    "pop testlog\n"
    "pop testlog\n";

TEST(TraceNvtx, InShowsRangesOfLibrariesAsSpans) { EXPECT_EQ(run("in").err, kInRange); }

TEST(TraceNvtx, OffLeavesNvtxAlone) {
  EXPECT_EQ(run("off").err, kInSpan);
  std::string calls;
  EXPECT_EQ(run_under_tool("off", calls).err, kInSpan);
  EXPECT_EQ(calls, "push CCCL: reg:cub::DeviceReduce::Sum\npop CCCL\n");
}

TEST(TraceNvtx, OutTellsAToolOfTestsSpansAndEvents) {
  std::string calls;
  EXPECT_EQ(run_under_tool("out", calls).err, kInSpan);
  EXPECT_EQ(calls, kCalls);
}

TEST(TraceNvtx, OutNeedsATool) {
  EXPECT_EQ(run("out").err,
            std::string("testlog: TRACE_NVTX=out: no NVTX tool, such as nsys, runs the program\n") + kInSpan);
}

TEST(TraceNvtx, BothIsOutUnderAToolAndInWithout) {
  std::string calls;
  EXPECT_EQ(run_under_tool("both", calls).err, kInSpan);
  EXPECT_EQ(calls, kCalls);
  EXPECT_EQ(run("both").err, kInRange);
}

TEST(TraceNvtx, InLeavesTheRangesToATool) {
  std::string calls;
  EXPECT_THAT(run_under_tool("in", calls).err,
              HasSubstr("testlog: TRACE_NVTX=in: NVTX_INJECTION64_PATH names another receiver, " FAKE_NVTX_TOOL));
  EXPECT_EQ(calls, "push CCCL: reg:cub::DeviceReduce::Sum\npop CCCL\n");
}

// A receiver that is linked statically sees the calls that are linked together with it.
TEST(TraceNvtx, InShowsRangesOfSharedLibrariesIfItIsOneItself) {
  char const* const expected = NVTX_IS_SHARED ? kInRange : kInSpan;
  EXPECT_EQ(run("in", {}, {.file = NVTX_SCENARIOS_SHARED}).err, expected);
  EXPECT_EQ(run("in", {}, {.test = "Library.HasRangesAfterItIsOpened"}).err, expected);
}

TEST(TraceNvtx, InIsInheritedByTestProgramsThatATestStarts) {
  if (!NVTX_IS_SHARED) GTEST_SKIP() << "Sets no variable.";
  EXPECT_EQ(run("in", {{"NVTX_INJECTION64_PATH", NVTX_LIBRARY}}).err, kInRange);
}

TEST(TraceNvtx, OtherProgramsThatInheritTheVariableRunAsWithoutIt) {
  if (!NVTX_IS_SHARED) GTEST_SKIP() << "Sets no variable.";
  Outcome const outcome = testlog::testdata::run({NVTX_PLAIN}, {{"NVTX_INJECTION64_PATH", NVTX_LIBRARY}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

TEST(TraceNvtx, OutFollowsTraceCapture) {
  tracing_test::TemporaryFile const file;
  run("out", {{"NVTX_INJECTION64_PATH", kTool}, {"FAKE_NVTX_OUTPUT", file.path()}, {"TRACE_CAPTURE", "none=warn"}});
  EXPECT_THAT(file.text(), HasSubstr("Library.HasRanges"));
  EXPECT_THAT(file.text(), Not(HasSubstr("request")));
}

TEST(TraceNvtx, NeedsTestlogNvtx) {
  EXPECT_EQ(run("in", {}, {.file = NVTX_SCENARIOS_ABSENT}).err,
            std::string("testlog: TRACE_NVTX=in: the program does not link testlog::nvtx\n") + kInSpan);
}

TEST(TraceNvtx, ReportsAnUnknownDirection) { EXPECT_THAT(run("sideways").err, HasSubstr("TRACE_NVTX=sideways")); }

}  // namespace
