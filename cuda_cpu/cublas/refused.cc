// Functions of cuBLAS and cuBLASLt that are not supported: each returns CUBLAS_STATUS_NOT_SUPPORTED and says its name.
// Does not include the toolkit's headers: the arguments do not matter, so all functions are defined without them.

namespace cuda_cpu::cublas {

int refuse_call(char const* name, char const* reason) noexcept;

}  // namespace cuda_cpu::cublas

extern "C" {

#define CUDA_CPU_REFUSED(name, reason) \
  int name() { return cuda_cpu::cublas::refuse_call(#name, reason); }
#include "cuda_cpu/cublas/refused.inc"
#undef CUDA_CPU_REFUSED

}  // extern "C"
