// append_kernel_details(): how a kernel was launched, as xprof's page of kernels reads it.
#pragma once

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// `regs:12 static_shared:12 dynamic_shared:4 grid:2,1,1 block:64,1,1`. Leaves out what the span of the kernel does not say.
// Source: the stat `kernel_details`, which xprof's kernel_stats_utils.cc splits into these words; one that is missing is 0 there,
// as is `occ_pct`, the occupancy, which nothing here knows.
void append_kernel_details(TextBuffer& out, SpanRef span);

}  // namespace tracing::inline v1::internal
