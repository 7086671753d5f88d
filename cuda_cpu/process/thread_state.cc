#include "cuda_cpu/process/thread_state.h"

#include "cuda_cpu/cpu/lasting_thread_local.h"

namespace cuda_cpu::process {

RuntimeThreadState& this_thread() noexcept { return cpu::lasting_thread_local<RuntimeThreadState>(); }

void keep_failed_call(std::string_view call, std::string_view detail) {
  this_thread().failed_call = {std::string(call), std::string(detail)};
}

}  // namespace cuda_cpu::process
