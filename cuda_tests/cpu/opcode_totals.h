// Declares what a launch tells, where perf spans are on, of the instructions that it made.
#pragma once

#include "cuda_tests/executor/executor.h"

namespace cuda_tests::cpu {

/// Whether anybody would hear it on this thread now. A launch counts and measures its instructions only then.
bool tells_opcode_totals();

/// A perf event for each opcode, by name: `opcode_total name="cpu_ldg" opcode="ld.global.f32" count=16 threads=512
/// duration_us=83 duration_ms=0.083`. `name` is there where single ones are perf spans. Then for each block that the statistics
/// have, by index: `block_opcode_total block=(1, 0, 0)` and the same.
void tell_opcode_totals(RunStatistics const& statistics);

}  // namespace cuda_tests::cpu
