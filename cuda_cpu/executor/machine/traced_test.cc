// The executor with counts, times and perf spans. It runs on its own threads, so the subscriber is the global one.
#include <gmock/gmock.h>

#include <regex>

#include "cuda_cpu/executor/reference/program_builder.h"
#include "cuda_cpu/executor/reference/run_test_support.h"
#include "tests/approval.h"
#include "tracing_core/perf/perf_test_support.h"

namespace cuda_cpu { namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Traced : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    json = new std::string;
    collected = new tracing::perf_test::Collected({.json = tracing::perf_test::to_text(*json)});
    tracing::set_global_default(collected->registry());
  }

  std::string run(ProgramBuilder const& program, LaunchShape const& shape = {{1}, {1}, 0}) {
    device.load(program.ptx());
    collected->take();
    json->clear();
    EXPECT_EQ(text_of(device.run("k", shape)), "");
    return collected->take_without_durations();
  }
  std::string run_with_spans(ProgramBuilder const& program, LaunchShape const& shape = {{1}, {1}, 0}) {
    device.options.instruction_spans = true;
    return run(program, shape);
  }

  static tracing::perf_test::Collected* collected;
  static std::string* json;
  TestDevice device{1};
};
tracing::perf_test::Collected* Traced::collected = nullptr;
std::string* Traced::json = nullptr;

// Returns the spans in lines such as `...:perf{name="cpu_ldg" bytes=4}: cuda_cpu: performance...`, without the span of
// the program.
std::string spans_of(std::string const& text) {
  std::string spans;
  std::regex const line(
      "DEBUG perf\\{name=\"cpu_execute_program\"[^}]*\\}:(.*): cuda_cpu: performance_span_complete .*\n");
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) spans += (*it)[1].str() + "\n";
  return std::regex_replace(std::regex_replace(spans, std::regex("perf\\{name=\"([a-z_]+)\""), "$1{"),
                            std::regex("\\{ ?(\\})?"), "{$1");
}

// Removes the lines that end with one of these spans.
std::string without(std::string const& spans, std::string const& names) {
  return std::regex_replace(spans, std::regex("[^\n]*cpu_(" + names + ")\\{[^\n:]*\n"), "");
}

TEST_F(Traced, AProgramOfThreeInstructionsPrintsFourLines) {
  std::string const text = run_with_spans(ProgramBuilder().ldg(4).stg(4).exit());
  std::string lines = std::regex_replace(*json, std::regex("\"timestamp\":\"[^\"]+\""),
                                         "\"timestamp\":\"2026-01-08T23:56:09.977977Z\"");
  lines = std::regex_replace(lines, std::regex("\"duration_us\":[0-9]+,\"duration_ms\":[0-9.]+"),
                             "\"duration_us\":<us>,\"duration_ms\":<ms>");
  tracing::testing::expect_approved("three_instructions.txt", text + "\n" + lines);
}

TEST_F(Traced, ARunIsAPerfSpan) {
  EXPECT_EQ(run(ProgramBuilder().ldg(4).stg(4).exit(), {{3}, {64}, 0}),
            "DEBUG perf{name=\"cpu_execute_program\" instructions=3 grid_size=3 block_size=64}: cuda_cpu::Executor: "
            "performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST_F(Traced, OperationsArePerfSpansOnRequest) {
  auto const body = [](ProgramBuilder& program) { program.lds(2); };
  std::string const text = run_with_spans(
      ProgramBuilder().ldg(4).sts(4).barrier_sync().loop(1, body).memory_fence().call().bra().stg(8).exit());
  EXPECT_EQ(
      spans_of(text),
      "cpu_ldg{bytes=4}\ncpu_sts{bytes=4}\ncpu_barrier_sync{}\ncpu_loop{}:cpu_lds{bytes=2}\ncpu_loop{iterations=1}\n"
      "cpu_memory_fence{}\ncpu_call{}\ncpu_ret{}\ncpu_bra{}\ncpu_stg{bytes=8}\ncpu_exit{}\n");
}

// ---- loops ----

TEST_F(Traced, ALoopIsAPerfSpanAroundThoseOfItsOperations) {
  std::string const text =
      run_with_spans(ProgramBuilder().loop(2, [](ProgramBuilder& body) { body.ldg(4); }).exit(), {{1}, {32}, 0});
  EXPECT_EQ(spans_of(text),
            "cpu_loop{}:cpu_ldg{bytes=4}\ncpu_loop{}:cpu_bra{}\ncpu_loop{}:cpu_ldg{bytes=4}\ncpu_loop{iterations=2}\n"
            "cpu_exit{}\n");
}

TEST_F(Traced, ANestedLoopIsASpanForEachTimeThatItIsEntered) {
  auto const inner = [](ProgramBuilder& body) { body.add("add.u32 %r1, %r1, 1;"); };
  std::string const text =
      run_with_spans(ProgramBuilder().loop(2, [&](ProgramBuilder& outer) { outer.loop(3, inner); }).exit());
  EXPECT_EQ(without(spans_of(text), "bra|exit"),
            "cpu_loop{}:cpu_loop{iterations=3}\ncpu_loop{}:cpu_loop{iterations=3}\ncpu_loop{iterations=2}\n");
}

TEST_F(Traced, EachWarpHasALoopOfItsOwnAlsoIfItWaitsInIt) {
  std::string const text = run_with_spans(
      ProgramBuilder().loop(3, [](ProgramBuilder& body) { body.barrier_sync(); }).exit(), {{1}, {64}, 0});
  EXPECT_EQ(without(spans_of(text), "bra|exit|barrier_sync"), "cpu_loop{iterations=3}\ncpu_loop{iterations=3}\n");
  EXPECT_EQ(without(spans_of(text), "bra|exit").find("\ncpu_barrier"), text.npos) << "a barrier is not in its loop";
}

// The lanes leave the loop one after the other: lane n after n + 1 iterations.
TEST_F(Traced, ALoopEndsWithItsLastLane) {
  std::string const text = run_with_spans(ProgramBuilder()
                                              .add("mov.u32 %r1, %tid.x;\nagain:")
                                              .add("setp.eq.u32 %p1, %r1, 0;")
                                              .add("sub.u32 %r1, %r1, 1;")
                                              .add("@!%p1 bra again;")
                                              .memory_fence()
                                              .exit(),
                                          {{1}, {32}, 0});
  EXPECT_EQ(without(spans_of(text), "bra"), "cpu_loop{iterations=32}\ncpu_memory_fence{}\ncpu_exit{}\n");
}

TEST_F(Traced, AFunctionCalledInALoopIsInItsSpan) {
  std::string const text = run_with_spans(ProgramBuilder().loop(2, [](ProgramBuilder& body) { body.call(); }).exit());
  EXPECT_EQ(without(spans_of(text), "bra"),
            "cpu_loop{}:cpu_call{}\ncpu_loop{}:cpu_ret{}\ncpu_loop{}:cpu_call{}\ncpu_loop{}:cpu_ret{}\n"
            "cpu_loop{iterations=2}\ncpu_exit{}\n");
}

TEST_F(Traced, ALoopThatAFaultEndsHasADuration) {
  device.options.instruction_spans = true;
  device.load(ProgramBuilder().loop(2, [](ProgramBuilder& body) { body.add("trap;"); }).exit().ptx());
  collected->take();
  EXPECT_THAT(text_of(device.run("k", {{1}, {1}, 0})), HasSubstr("trap"));
  EXPECT_THAT(collected->take_without_durations(), HasSubstr("perf{name=\"cpu_loop\" iterations=1}: cuda_cpu: "));
}

TEST_F(Traced, LoopsHaveNoSpansUnlessOperationsHave) {
  std::string const text = run(ProgramBuilder().loop(2, [](ProgramBuilder& body) { body.ldg(4); }).exit());
  EXPECT_THAT(text, Not(HasSubstr("cpu_loop")));
}

// ---- totals ----

TEST_F(Traced, OpcodesAreCountedAndTimedByBlock) {
  device.options.opcode_statistics = true;
  device.options.block_statistics = true;
  run(ProgramBuilder().ldg(4).barrier_sync().add("mov.u32 %r1, %tid.x;").exit(), {{3}, {40}, 0});
  auto const& loads = device.statistics.opcodes.at("ld.global.u32");
  EXPECT_EQ(loads.count, 6u);  // two warps in each of three blocks
  EXPECT_EQ(loads.threads, 120u);
  EXPECT_GT(loads.nanoseconds, 0u);
  EXPECT_EQ(loads.span, "cpu_ldg");
  EXPECT_EQ(device.statistics.opcodes.at("mov.u32").span, "");
  ASSERT_EQ(device.statistics.blocks.size(), 3u);
  EXPECT_EQ(device.statistics.blocks[0].opcodes.at("bar.sync").threads, 40u);
  EXPECT_EQ(device.statistics.thread_instructions, 3u * 40 * 4);
}

TEST_F(Traced, OpcodesAreNotCountedByDefault) {
  run(ProgramBuilder().ldg(4).exit(), {{1}, {32}, 0});
  EXPECT_TRUE(device.statistics.opcodes.empty());
  EXPECT_EQ(device.statistics.thread_instructions, 32u * 2);
}

}}  // namespace cuda_cpu
