// record_gpu_time(): how long a kernel ran, in the span of its launch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tracing_core/emit/span.h"
#include "tracing_core/format/duration_text.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// Records the field `gpu.time`, as in `gpu.time=12.3µs`, if the span has it.
inline void record_gpu_time(Span const& span, Instant begin, Instant end) {
  if (!span.has_field("gpu.time")) return;
  InlineTextBuffer<32> text;
  append_duration(text, static_cast<std::uint64_t>(std::max<std::int64_t>(end.ns - begin.ns, 0)));
  span.record(kv("gpu.time", display(text.view())));
}

}}}}  // namespace tracing::v1::cuda::internal
