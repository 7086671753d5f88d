// Declares the CPU backend: the calls of the CUDA driver, made by the threads of the host. It answers as cuda.h says the
// driver does, so that what is tested against it runs on a GPU unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda_tests/executor/executor.h"
#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/cuda/launch_log.h"

namespace cuda_tests {

/// The table of calls, all of them there. One device of compute capability 9.0 with one primary context; no thread is
/// started before there is work for a stream. Kernels are PTX alone. What cuda.h leaves undefined is an error here: a handle
/// that is none any more is CUDA_ERROR_INVALID_HANDLE.
///
/// Faults to test with are put between this table and who calls it: replace single calls.
tracing::cuda::DriverApi cpu_driver_api() noexcept;

struct CpuDriverOptions {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< what the device has; more is CUDA_ERROR_OUT_OF_MEMORY
  unsigned workers = 0;            ///< its multiprocessors: threads that run blocks; 0: one per core
  bool opcode_statistics = false;  ///< see cpu_driver_statistics(); halves the speed
  /// A launch tells what it did by opcode where perf spans are on; this tells it for each block, too. CUDA_TESTS_CPU_BLOCKS=1
  /// turns it on.
  bool block_statistics = false;
  bool instruction_spans = false;  ///< perf spans of single instructions, below that of the launch; CUDA_TESTS_CPU_SPANS=1
};

/// What the device is. False where it is too late, which is after the first cuInit.
bool set_cpu_driver_options(CpuDriverOptions const& options);

/// The fault that ended the context.
struct CpuDriverFault {
  CUresult code = CUDA_SUCCESS;  ///< what every call returns since then
  /// Which launch it was: tracing::cuda::current_launch() when it was made, zero for one that no Driver made.
  tracing::cuda::LaunchId launch = 0;
  CUstream stream = nullptr;  ///< where it was launched
  Fault fault;                ///< the kernel, the place in its PTX, block and threads
};

/// None while all is well. Exact, where a GPU knows only that one of the kernels under way failed. Thread-safe.
std::optional<CpuDriverFault> cpu_driver_last_fault();

/// Why the latest call of this thread failed, where there is more to say than its code: what of the PTX is not supported and
/// where it stands, which argument is wrong. Empty where there is not.
std::string cpu_driver_last_message();

/// What all kernels executed since the start, where the options ask for it; not by block. Thread-safe.
RunStatistics cpu_driver_statistics();

}  // namespace cuda_tests
