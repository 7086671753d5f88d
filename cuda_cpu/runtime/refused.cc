// Functions that programs can link and that are not supported: each returns cudaErrorNotSupported and says its name.
// Does not include the toolkit's header: the arguments do not matter, so all functions are defined without them.
#include <string>

namespace cuda_cpu::runtime {

int refuse_call(char const* name, char const* reason) noexcept;

}  // namespace cuda_cpu::runtime

extern "C" {

#define CUDA_CPU_REFUSED(name, reason) \
  int name() { return cuda_cpu::runtime::refuse_call(#name, reason); }
#include "cuda_cpu/runtime/refused.inc"
#undef CUDA_CPU_REFUSED

}  // extern "C"
