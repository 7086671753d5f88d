// The totals of a launch by opcode, emitted if perf spans are on.
#pragma once

#include "cuda_tests/executor/executor.h"

namespace cuda_tests::cpu {

/// Whether a subscriber on this thread wants the totals. Only then does a launch count and time its instructions.
bool reports_opcode_totals();

/// Emits a perf event for each opcode: `opcode_total name="cpu_ldg" opcode="ld.global.f32" count=16 threads=512
/// duration_us=83 duration_ms=0.083`. `name` is that of the perf span of one such instruction, if it has one. Then the
/// same for each block in the statistics: `block_opcode_total block=(1, 0, 0) ...`.
void report_opcode_totals(RunStatistics const& statistics);

}  // namespace cuda_tests::cpu
