// Declares span_note(), which says where and in which spans the calling thread makes a call.
#pragma once

#include <string_view>

#include "cuda_cpu/executor/device_memory.h"

namespace cuda_cpu::cpu {

/// Returns "allocated at pool.cc:88 in load{layer=3}" for the verb "allocated", without the span of the driver's call.
/// Empty if neither the place nor a span is known.
MemoryNote span_note(std::string_view verb);

}  // namespace cuda_cpu::cpu
