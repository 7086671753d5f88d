#include "cuda_tests/cpu/opcode_totals.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "tracing_core/perf/recorders.h"
#include "tracing_core/tracing.h"

namespace cuda_tests::cpu {
namespace {

using tracing::kv;
using Index = std::tuple<unsigned, unsigned, unsigned>;

Index index_of(BlockStatistics const& block) { return {block.block.x, block.block.y, block.block.z}; }

// span.data() is a literal, or null, which omits the field.
void report(std::string_view opcode, OpcodeStatistics const& all) {
  auto const took = tracing::internal::recorded_duration(std::chrono::nanoseconds(all.nanoseconds));
  TRACE_PERF_EVENT("opcode_total", kv("name", all.span.data()), opcode, kv("count", all.count),
                   kv("threads", all.threads), kv("duration_us", took.us), kv("duration_ms", took.ms));
}

void report(Index const& block, char const* name, std::string_view opcode, OpcodeStatistics const& its) {
  auto const took = tracing::internal::recorded_duration(std::chrono::nanoseconds(its.nanoseconds));
  TRACE_PERF_EVENT("block_opcode_total", block, name, opcode, kv("count", its.count), kv("threads", its.threads),
                   kv("duration_us", took.us), kv("duration_ms", took.ms));
}

}  // namespace

bool reports_opcode_totals() {
  return TRACING_INTERNAL_PERF_ENABLED_("opcode_total", ::tracing::internal::level_debug);
}

void report_opcode_totals(RunStatistics const& statistics) {
  for (auto const& [opcode, all] : statistics.opcodes) report(opcode, all);
  std::vector<BlockStatistics const*> blocks;
  for (auto const& block : statistics.blocks) blocks.push_back(&block);
  std::ranges::sort(blocks, {},
                    [](auto const* block) { return std::tuple(block->block.z, block->block.y, block->block.x); });
  for (auto const* const block : blocks) {
    for (auto const& [opcode, its] : block->opcodes) {
      report(index_of(*block), statistics.opcodes.at(opcode).span.data(), opcode, its);
    }
  }
}

}  // namespace cuda_tests::cpu
