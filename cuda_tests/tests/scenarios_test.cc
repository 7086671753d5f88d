// Compares the output of programs that use the runtime with approved files. On a GPU the output differs only in details
// of the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "cuda_tests/runtime/backend.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace cuda_tests { namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;
using tracing::testing::expect_approved;

struct Rule {
  char const* pattern;
  char const* replacement;
};

std::string replaced(std::string text, std::span<Rule const> rules) {
  for (Rule const& rule : rules) text = std::regex_replace(text, std::regex(rule.pattern), rule.replacement);
  return text;
}

// Removes the texts that depend on the run and on the version of the toolkit.
std::string scrubbed(std::string const& text) {
  static constexpr Rule kRules[] = {
      {"0x[0-9a-f]+", "<pointer>"},
      {"(after_us|duration_us|duration_ms|gb_per_s|elapsed_ms|"
       "time\\.busy|time\\.idle)=[0-9.e+-]+(ns|us|\xC2\xB5s|ms|s)?",
       "$1=<time>"},
      {"(ptx_bytes|cubin_bytes|memory_bytes)=[0-9]+", "$1=<bytes>"},
      {"registers=[0-9]+", "registers=<number>"},
      {"options=\\[[^\\]]*\\]", "options=[<options>]"},
      {", in memory of the host, far from any of the device", ""},  // printed in some runs only
      {"[^ \n]*cuda_tests/tests/(\\w+\\.cc:)[0-9]+", "$1<line>"},
      {"[^ \n]*/(cuda_tests_scenarios )", "$1"},
      {"( FAIL [^\n]{80})[^\n]*", "$1..."},  // cut at a length that counts the path
      {"\\([0-9]+ ms( total)?\\)", "(<ms>)"},
      {"nvrtc=\"?[0-9.]+\"?", "nvrtc=<version>"},
  };
  return replaced(text, kRules);
}

// Also removes the texts that depend on the device, and the details that only the CPU reports.
std::string without_device(std::string const& text) {
  static constexpr Rule kRules[] = {
      {"Using .*, compute capability [0-9.]+ device=[0-9]+", "Using <device>"},
      {"device=[0-9]+", "device=<number>"},
      // A GPU loads kernels lazily, so it knows what they use after their first launch.
      {"(found kernel kernel\\.name=\\S+) .*", "$1"},
      {"[^\n]*: kernel uses [^\n]*\n", ""},
      {"arch=\"[a-z0-9_]+\"", "arch=<arch>"},
      {"(module_load\\{module=\"[^\"]*\") bytes=[0-9]+", "$1 bytes=<bytes>"},
      {" (ptx_bytes|cubin_bytes)=<bytes>", ""},
      {" (registers|spill_bytes|local_bytes)=(<number>|[0-9]+)", ""},
      {"(: compiled .*) shared_bytes=[0-9]+", "$1"},  // the compiler of PTX does not report it
      {" detail=\".*\"", ""},
      {"an access [^;\n]*; (caused by launch [0-9]+ of \\w+); (CUDA_ERROR_ILLEGAL_ADDRESS \\(700\\) from [^\n]*)",
       "$2: a kernel read or wrote an invalid address; $1"},
      {"( FAIL [^\n]*: The CUDA device was broken by this test): [^\n]*", "$1"},  // cut after 200 bytes
      {", the only one outstanding", ""},
      {"caused the failure: no other launch was outstanding", "caused the failure"},
  };
  return replaced(text, kRules);
}

std::string approved(std::string const& file) {
  return testlog::testdata::content_of(TESTLOG_TEST_DIR "/approved/" + file);
}

// The parameter is the name of the backend.
class Scenarios : public ::testing::TestWithParam<char const*> {
 protected:
  void SetUp() override {
    std::string why;
    backend_ = is_cpu() ? Backend::cpu(why) : Backend::cuda(why);
    if (backend_ == nullptr) GTEST_SKIP() << why;
  }
  bool compiles() const { return backend_->compiles(); }
  static bool is_cpu() { return std::string_view(GetParam()) == "cpu"; }

  static Outcome run(std::string const& filter, Variables variables = {}) {
    variables.emplace_back("CUDA_TESTS_BACKEND", GetParam());
    variables.emplace_back("TRACE_TIME", "none");
    variables.emplace_back("TRACE_THREADS", "off");  // the numbers of the CPU device's threads depend on the run
    return testlog::testdata::run({CUDA_TESTS_SCENARIOS, "--gtest_filter=" + filter}, variables);
  }

  // Compares the events about a launch with perf spans enabled, which only the CPU emits.
  void expect_perf(std::string const& filter, std::string const& file, Variables variables) {
    if (!is_cpu()) GTEST_SKIP() << "The driver of a GPU does not report executed instructions.";
    variables.emplace_back("TRACE_FILTER", "off,tracing::cuda[launch]=trace");
    variables.emplace_back("TRACE_SPAN_FIELDS", "all");
    Outcome const outcome = run(filter, variables);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    // When the call returns, the device's threads may have emitted some of the other events.
    static constexpr Rule kLaunched[] = {{"TRACE .*: launched\n", ""}};
    expect_approved(file, replaced(scrubbed(outcome.err), kLaunched));
  }

  void expect_tree(std::string const& filter, std::string const& file, int exit_code = 0,
                   Variables variables = {}) const {
    // The place of the lines in which the device reports its work depends on the run.
    variables.emplace_back("TRACE_FILTER", "trace,tracing::cuda::device=off");
    variables.emplace_back("TRACE_CAPTURE", "trace,tracing::cuda::device=off");
    variables.emplace_back("TRACE_SPAN_EVENTS", "new");
    variables.emplace_back("TRACE_SPAN_FIELDS", "all");
    Outcome const outcome = run(filter, variables);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    expect_approved_here(file, scrubbed(outcome.err));
  }

  // The approved files come from the CPU. Embedded kernels have other records.
  void expect_approved_here(std::string const& file, std::string const& text) const {
    if (is_cpu()) {
      expect_approved(file, text);
    } else if (compiles()) {
      EXPECT_EQ(without_device(text), without_device(approved(file))) << "differs from the output on the CPU";
    }
  }

 private:
  Backend* backend_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Cpu, Scenarios, ::testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cuda, Scenarios, ::testing::Values("cuda"));

// Turns the approved files into the output that a GPU would give.
TEST(WithoutDevice, MakesTheOutputOfAGpuEqualToThatOfTheCpu) {
  static constexpr Rule kGpu[] = {
      {"testlog CPU device, compute capability 9\\.0", "NVIDIA H100 80GB HBM3, compute capability 9.0"},
      {"compute_75", "sm_90"},
      {"bytes=3173", "bytes=9000"},
      {"ptx_bytes=<bytes> cache",
       "ptx_bytes=<bytes> cubin_bytes=<bytes> registers=<number> shared_bytes=0 spill_bytes=8 cache"},
      {"local_bytes=0", "local_bytes=8"},
      {"caused the failure error=(\\w+) detail=\".*\"", "caused the failure: no other launch was outstanding error=$1"},
      {"an access [^;\n]*; caused by launch 1 of out_of_bounds; (CUDA_ERROR_ILLEGAL_ADDRESS \\(700\\) from [^\n]*)",
       "$1: a kernel read or wrote an invalid address; caused by launch 1 of out_of_bounds, the only one outstanding"},
  };
  for (char const* const file : {"launch.txt", "out_of_bounds.txt", "broken.txt", "bad_launch.txt"}) {
    std::string const cpu = approved(file);
    EXPECT_NE(replaced(cpu, kGpu), cpu);
    EXPECT_EQ(without_device(replaced(cpu, kGpu)), without_device(cpu)) << file;
    EXPECT_NE(without_device(cpu), without_device(approved("trap.txt")));
  }
}

TEST_P(Scenarios, ReportUnfinishedLaunchesOfATestThatNeverEnds) {
  if (!is_cpu()) GTEST_SKIP() << "A GPU would go on after the process was killed.";
  Variables const variables{{"TRACE_HANG_AFTER", "2"}, {"TRACE_SHOW", "failed"}};
  Outcome const outcome = testlog::testdata::run({CUDA_TESTS_SCENARIOS, "--gtest_filter=Scenario.NeverEnds"}, variables,
                                                 {{"---- end of the report ----\n", SIGKILL}});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("---- still running: Scenario.NeverEnds, for 2."),
                                 HasSubstr("  launches whose end was not observed, the oldest first:\n"
                                           "    stream "),
                                 HasSubstr(": launch 1 of spin, grid (1, 1, 1), block (1, 1, 1), launched ")));
}

// CTest ends the program by SIGKILL.
TEST_P(Scenarios, ExplainAHangInTheLogOfCTestAndInItsJUnitFile) {
  if (!is_cpu()) GTEST_SKIP() << "A GPU would go on after the process was killed.";
  tracing_test::TemporaryFolder const folder;
  folder.write("CTestTestfile.cmake", "add_test(never_ends [==[" CUDA_TESTS_SCENARIOS
                                      "]==] --gtest_filter=Scenario.NeverEnds)\n"
                                      "set_tests_properties(never_ends PROPERTIES TIMEOUT 8 ENVIRONMENT "
                                      "\"TRACE_HANG_AFTER_DEFAULT=5;TRACE_CUDA_TIMEOUT=off;CI=1\")\n");
  Outcome const outcome = testlog::testdata::run(
      {TESTLOG_CTEST, "--test-dir", folder / ".", "--output-on-failure", "--output-junit", folder / "junit.xml"});
  EXPECT_THAT(outcome.out, HasSubstr("***Timeout"));
  EXPECT_THAT(folder.read("junit.xml"), HasSubstr("---- still running: Scenario.NeverEnds, for "));
  static constexpr Rule kRules[] = {
      {"[0-9]+\\.[0-9]{3} m?s", "<time>"},
      {"\\([0-9]+\\)", "(<number>)"},
      {"  thread [0-9]+ ", "  thread <number> "},
      {"    -<time> [^\n]*\n", ""},              // records before the launch
      {"    (#[0-9]+ [^\n]*|\\.\\.\\.)\n", ""},  // the stacks
      // The device has a thread for each core of the machine.
      {"  thread \\(<number>\\), [^\n]* has recorded nothing\n(   (its|no) stack[^\n]*\n)?", ""},
      {" of stream [0-9]+|stream=[0-9]+|stream [0-9]+", "stream <number>"}};
  std::size_t const begin = outcome.out.find("---- still running");
  std::string const end = "---- end of the report ----\n";
  ASSERT_NE(begin, std::string::npos) << outcome.out;
  expect_approved("hang.txt", replaced(outcome.out.substr(begin, outcome.out.find(end) + end.size() - begin), kRules));
}

TEST_P(Scenarios, PrintsTheIdentityOfHalvesLikeCubeCl) {
  Outcome const outcome = run("Scenario.IdentityOfHalves", {{"TRACE_FILTER", "trace"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(testlog::testdata::count(outcome.err, "CubeDim {"), 1) << "kernel.id is in one line";
  expect_approved_here("identity.txt", scrubbed(outcome.err));
}

TEST_P(Scenarios, PrintsACompilationAndALaunch) { expect_tree("Scenario.CompilesLaunchesAndReads", "launch.txt"); }
TEST_P(Scenarios, PrintsWhatTheDeviceDidIfSpanEventsAreAskedFor) {
  if (!is_cpu()) GTEST_SKIP() << "The driver of a GPU does not report what the device did.";
  Outcome const outcome = run("Scenario.CompilesLaunchesAndReads",
                              {{"TRACE_FILTER", "off,tracing::cuda::device=trace"}, {"TRACE_SPAN_EVENTS", "close"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  expect_approved("device.txt", scrubbed(outcome.err));
}
TEST_P(Scenarios, MeasureTheSameByEventsIfThisIsAskedFor) {
  Outcome const outcome = run("Scenario.CompilesLaunchesAndReads", {{"TRACE_FILTER", "off,tracing::cuda=trace"},
                                                                    {"TRACE_CUDA_DEVICE_TIMES", "events"},
                                                                    {"TRACE_SPAN_FIELDS", "all"},
                                                                    {"TRACE_SPAN_EVENTS", "close"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Device times of a Driver's calls are measured by events"));
  EXPECT_THAT(outcome.err, ContainsRegex("launch.kernel.name=saxpy [^\n]* launch=1 gpu.time=[0-9.]+[^0-9]+s"));
  std::string device;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);)
    if (line.find("}: tracing::cuda::device: close") != line.npos) device += line + '\n';
  EXPECT_EQ(scrubbed(device), approved("device.txt"));
}
TEST_P(Scenarios, PrintsACacheHit) { expect_tree("Scenario.CompilesOnceForTwoServers", "cache_hit.txt"); }
TEST_P(Scenarios, PrintsAFailedCompilation) {
  if (!compiles()) GTEST_SKIP() << "NVRTC does not compile for this device.";
  expect_tree("Scenario.FailsToCompile", "compile_error.txt");
}
TEST_P(Scenarios, CompilesAKernelAgainAfterAFailure) {
  if (!compiles()) GTEST_SKIP() << "NVRTC does not compile for this device.";
  Outcome const outcome = run("Scenario.FailsToCompileTwice", {{"TRACE_FILTER", "tracing::cuda=trace"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(testlog::testdata::count(outcome.err, "cuda_tests::compute::context: Compiling kernel"), 2) << outcome.err;
}

TEST_P(Scenarios, PrintsARefusedLaunch) { expect_tree("Scenario.HasTooManyThreads", "bad_launch.txt"); }
TEST_P(Scenarios, PrintsAFailedAllocation) { expect_tree("Scenario.AllocatesTooMuchMemory", "out_of_memory.txt"); }
TEST_P(Scenarios, PrintsALaunchThatEndsAfterTheSpanOfItsCaller) {
  expect_tree("Scenario.EndsAfterItsSpan", "ends_after_its_span.txt");
}
TEST_P(Scenarios, PrintsAnUnsupportedInstruction) {
  if (!is_cpu()) GTEST_SKIP() << "GPUs support the instruction.";
  expect_tree("Scenario.HasAnUnsupportedInstruction", "unknown_instruction.txt");
}
TEST_P(Scenarios, PrintsTwoConcurrentLaunches) {
  expect_tree("Scenario.RunsTwoKernelsConcurrently", "two_launches.txt");
}
TEST_P(Scenarios, PrintsTwoStreams) { expect_tree("Scenario.UsesTwoStreams", "two_streams.txt"); }

TEST_P(Scenarios, PrintsExecutedInstructionsWithPerfSpans) {
  expect_perf("Scenario.RunsTwoSmallBlocks", "perf.txt", {{"TRACE_PERF", "on"}});
}
TEST_P(Scenarios, PrintsExecutedInstructionsOfEachBlock) {
  expect_perf("Scenario.RunsTwoSmallBlocks", "perf_blocks.txt", {{"TRACE_PERF", "cuda_cpu::blocks=trace"}});
}
TEST_P(Scenarios, PrintsInstructionsAsPerfSpans) {
  expect_perf("Scenario.RunsOneSmallBlock", "perf_spans.txt", {{"TRACE_PERF", "cuda_cpu=trace,cuda_cpu::blocks=off"}});
}
TEST_P(Scenarios, HoldsTotalsOfInstructionsToTheThreshold) {
  if (!is_cpu()) GTEST_SKIP() << "The driver of a GPU does not report executed instructions.";
  for (char const* const perf : {"on", "cuda_cpu=trace"}) {
    Outcome const all = run("Scenario.RunsTwoSmallBlocks", {{"TRACE_PERF", perf}});
    EXPECT_THAT(all.err, HasSubstr(": opcode_total ")) << perf;
    Outcome const slow =
        run("Scenario.RunsTwoSmallBlocks", {{"TRACE_PERF", perf}, {"TRACE_PERF_THRESHOLD_US", "60000000"}});
    EXPECT_EQ(slow.exit_code, 0) << slow.out << slow.err;
    EXPECT_THAT(slow.err, ::testing::Not(HasSubstr("opcode_total"))) << perf;
    EXPECT_THAT(slow.err, ::testing::Not(HasSubstr("performance_span_complete"))) << perf;
  }
}
TEST_P(Scenarios, SumsUpInstructionsIfTheSummaryAsksForLevelTrace) {
  if (!is_cpu()) GTEST_SKIP() << "The driver of a GPU does not report executed instructions.";
  EXPECT_THAT(run("Scenario.RunsOneSmallBlock", {{"TRACE_PERF", "summary,cuda_cpu=trace"}}).err,
              HasSubstr("\ncpu_ldg                     2 "));
  EXPECT_THAT(run("Scenario.RunsOneSmallBlock", {{"TRACE_PERF", "summary"}}).err, ::testing::Not(HasSubstr("cpu_ldg")));
}
TEST_P(Scenarios, PrintsNoInstructionsWithoutPerfSpans) {
  Outcome const outcome = run("Scenario.RunsOneSmallBlock", {{"TRACE_FILTER", "trace"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("cpu_")));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("opcode_total")));
}

TEST_P(Scenarios, FailsTheTestThatBrokeTheDeviceAndNamesTheLaunch) {
  Outcome const outcome = run("Broken.*");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              ContainsRegex("The CUDA device was broken by this test: .*CUDA_ERROR_ILLEGAL_ADDRESS \\(700\\)"));
  expect_approved_here("broken.txt", scrubbed(outcome.out) + "==== standard error ====\n" + scrubbed(outcome.err));
}

TEST_P(Scenarios, NamesTheFailedOneOfSeveralLaunches) {
  Outcome const outcome = run("Trap.*");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(is_cpu() ? "trap: kernel trap_if" : "trap_if"));
}

TEST_P(Scenarios, PrintsAnAccessOutOfBounds) { expect_tree("Broken.WritesOutOfBounds", "out_of_bounds.txt", 1); }
TEST_P(Scenarios, PrintsAnAccessOutOfBoundsInABlockingLaunch) {
  expect_tree("Broken.WritesOutOfBounds", "out_of_bounds_blocking.txt", 1, {{"CUDA_LAUNCH_BLOCKING", "1"}});
}
TEST_P(Scenarios, PrintsATrapInTheSecondOfTwoLaunches) {
  if (!is_cpu()) GTEST_SKIP() << "A GPU does not report which of the two failed.";
  expect_tree("Trap.*", "trap.txt", 1);
}

}}  // namespace cuda_tests
