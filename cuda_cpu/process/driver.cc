#include "cuda_cpu/process/driver.h"

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/graph/capture_calls.h"
#include "cuda_cpu/process/exit_status.h"

namespace cuda_cpu::process {

tracing::cuda::Driver& driver() {
  static auto& its = []() -> tracing::cuda::Driver& {
    watch_exit();
    return *new tracing::cuda::Driver(graph::with_captures(cpu_driver_api()), cpu_driver_options());
  }();
  return its;
}

}  // namespace cuda_cpu::process
