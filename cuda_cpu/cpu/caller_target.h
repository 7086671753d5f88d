// target_of(): finds the namespace of the code that called CUDA, from the symbols of its program or library.
#pragma once

#include "cuda_cpu/executor/call_site.h"

namespace cuda_cpu::cpu {

/// Returns the namespace and class of the innermost function of the program at a call site, as targets have them:
/// functions of CUDA, Thrust, CUB and the C++ library are left out if another function is known; otherwise the
/// target is the name of the library. The target of a
/// function in no namespace, or of a file without symbols, is the file's name: `solver` for `libsolver.so.1`. Returns
/// null if the call site is empty. The text is never freed, and equal targets have equal addresses. Thread-safe. Reads
/// the file's symbols when its first address is looked up; costs some 5 ns a frame that this thread has had recently.
char const* target_of(CallSite const& site) noexcept;

}  // namespace cuda_cpu::cpu
