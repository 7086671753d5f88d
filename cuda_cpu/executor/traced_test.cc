// The executor with counts, times and perf spans. It runs on its own threads, so the subscriber is the global one.
#include <regex>

#include "cuda_cpu/executor/run_test_support.h"
#include "tracing_core/perf/perf_test_support.h"

namespace cuda_cpu {
namespace {

constexpr std::string_view kKernel =
    ".version 9.0\n.target sm_90\n.address_size 64\n.func nothing { ret; }\n.visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %rd<2>; .reg .b32 %r<4>; .shared .align 8 .b8 ours[16];\n"
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.shared.u32 [ours], %r1; bar.sync 0; "
    "ld.shared.u16 %r2, [ours];\n"
    "membar.gl; call nothing; bra end; end: st.global.v2.u32 [%rd1], {%r1, %r2}; exit;\n}\n";

class Traced : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    collected = new tracing::perf_test::Collected;
    tracing::set_global_default(collected->registry());
  }

  std::string run(LaunchShape const& shape) {
    device.load(kKernel);
    collected->take();
    EXPECT_EQ(text_of(device.run("k", shape, device.allocate<std::uint64_t>(1))), "");
    return collected->take_without_durations();
  }

  static tracing::perf_test::Collected* collected;
  TestDevice device{1};
};
tracing::perf_test::Collected* Traced::collected = nullptr;

std::string line(std::string const& fields) {
  return "perf{name=\"cpu_execute_program\" instructions=10 grid_size=1 block_size=1}:perf{name=" + fields +
         "}: cuda_cpu: performance_span_complete duration_us=<us> duration_ms=<ms>\n";
}

TEST_F(Traced, ARunIsAPerfSpan) {
  EXPECT_EQ(
      run({{3}, {64}, 0}),
      "DEBUG perf{name=\"cpu_execute_program\" instructions=10 grid_size=3 block_size=64}: cuda_cpu::Executor: "
      "performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST_F(Traced, InstructionsArePerfSpansOnRequest) {
  device.options.instruction_spans = true;
  std::string const text = run({{1}, {1}, 0});
  std::size_t at = 0;
  for (std::string const fields :
       {"\"cpu_ldg\" bytes=4", "\"cpu_sts\" bytes=4", "\"cpu_barrier_sync\"", "\"cpu_lds\" "
                                                                              "bytes=2", "\"cpu_memory_fence\"",
        "\"cpu_call\"", "\"cpu_ret\"", "\"cpu_bra\"", "\"cpu_stg\" bytes=8", "\"cpu_exit\""}) {
    std::size_t const found = text.find(line(fields), at);
    ASSERT_NE(found, text.npos) << fields << " is missing or out of order in\n" << text;
    at = found + 1;
  }
}

TEST_F(Traced, OpcodesAreCountedAndTimedByBlock) {
  device.options.opcode_statistics = true;
  device.options.block_statistics = true;
  run({{3}, {40}, 0});
  auto const& loads = device.statistics.opcodes.at("ld.global.u32");
  EXPECT_EQ(loads.count, 6u);  // two warps of three blocks
  EXPECT_EQ(loads.threads, 120u);
  EXPECT_GT(loads.nanoseconds, 0u);
  EXPECT_EQ(loads.span, "cpu_ldg");
  EXPECT_EQ(device.statistics.opcodes.at("ld.param.u64").span, "");
  ASSERT_EQ(device.statistics.blocks.size(), 3u);
  EXPECT_EQ(device.statistics.blocks[0].opcodes.at("bar.sync").threads, 40u);
  EXPECT_EQ(device.statistics.thread_instructions, 3u * 40 * 11);
}

TEST_F(Traced, OpcodesAreNotCountedByDefault) {
  run({{1}, {32}, 0});
  EXPECT_TRUE(device.statistics.opcodes.empty());
  EXPECT_EQ(device.statistics.thread_instructions, 32u * 11);
}

}  // namespace
}  // namespace cuda_cpu
