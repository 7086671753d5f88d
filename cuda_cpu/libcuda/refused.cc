// Functions that programs can link and that are not supported: each returns CUDA_ERROR_NOT_SUPPORTED and says its name.
// Does not include cuda.h: the arguments do not matter, so all functions are defined without them.
namespace cuda_cpu::libcuda {

int refuse(char const* name, char const* reason) noexcept;

}  // namespace cuda_cpu::libcuda

extern "C" {

#define CUDA_CPU_REFUSED(name, reason) \
  int name() { return cuda_cpu::libcuda::refuse(#name, reason); }
#include "cuda_cpu/libcuda/refused.inc"
#undef CUDA_CPU_REFUSED

}  // extern "C"
