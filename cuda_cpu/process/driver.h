// driver(): the driver of the process, through which both stand-ins make their calls.
#pragma once

#include "tracing_core/cuda/driver.h"

namespace cuda_cpu::process {

/// Returns the Driver of the CPU backend. Its calls can be captured into graphs. Its device is open once start() has
/// succeeded. Never destroyed. Thread-safe.
tracing::cuda::Driver& driver();

}  // namespace cuda_cpu::process
