// driver(): the driver of the process, through which both stand-ins make their calls.
#pragma once

#include <cuda.h>

#include "tracing_core/cuda/driver.h"

namespace cuda_cpu::process {

/// Returns the Driver of the CPU backend. Its calls can be captured into graphs. Its device is open once start() has
/// succeeded. Never destroyed. Thread-safe.
tracing::cuda::Driver& driver();

/// If `result` loses the context and no subscriber gets errors, explains on stderr, once, how it was lost.
void explain_if_lost(CUresult result) noexcept;
/// True after explain_if_lost() has seen that the context is lost.
bool is_known_as_lost() noexcept;

}  // namespace cuda_cpu::process
