// append_kernel_details(): describes how a kernel was launched, in the form that xprof's page of kernels reads.
#pragma once

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace recording {

// Appends `regs:12 static_shared:12 dynamic_shared:4 grid:2,1,1 block:64,1,1`, without the words that the kernel's span
// has no values for. Source: xprof's kernel_stats_utils.cc, which splits the stat `kernel_details` into these words. It
// takes a missing word as 0, and so also `occ_pct`, the occupancy, which we do not know.
void append_kernel_details(TextBuffer& out, SpanRef span);

}}}  // namespace tracing::v1::recording
