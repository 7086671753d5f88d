// Declares span_note(), which says in which spans the calling thread is.
#pragma once

#include <string>
#include <string_view>

namespace cuda_cpu::cpu {

/// Returns "allocated in load{layer=3}" for the verb "allocated", without the span of the driver's call. Empty outside
/// of spans, or if nothing is traced.
std::string span_note(std::string_view verb);

}  // namespace cuda_cpu::cpu
