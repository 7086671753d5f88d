// span_note() says in which spans the calling thread is.
#pragma once

#include <string>
#include <string_view>

namespace cuda_cpu::cpu {

/// "allocated in load{layer=3}" for the verb "allocated", without the span of the driver's call. Empty if nothing is
/// traced, or outside of spans.
std::string span_note(std::string_view verb);

}  // namespace cuda_cpu::cpu
