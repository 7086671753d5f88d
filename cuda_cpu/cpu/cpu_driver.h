// The CPU backend: the calls of the CUDA driver, implemented on host threads. They behave as cuda.h documents, so that
// code tested against them runs on a GPU unchanged.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda_cpu/executor/executor.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/cuda/launch_log.h"

namespace cuda_cpu {

/// The complete table of calls. There is one device of compute capability 9.0 with one primary context. No thread is
/// started before a stream has work. Modules are PTX or fat binaries that have PTX. Calls that cuda.h leaves undefined
/// fail: a stale handle is CUDA_ERROR_INVALID_HANDLE.
///
/// To inject faults in a test, replace entries of the table.
tracing::cuda::DriverApi cpu_driver_api() noexcept;

struct CpuDriverOptions {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< capacity of the device; TRACE_CUDA_MEMORY wins
  unsigned workers = 0;            ///< number of multiprocessors: threads that run blocks; 0: one per core
  /// A launch that runs longer since its first block began is CUDA_ERROR_LAUNCH_TIMEOUT; its fault says where each warp
  /// is. Zero: never. TRACE_CUDA_TIMEOUT, in seconds, wins.
  std::chrono::nanoseconds timeout{0};
  /// What launches are checked for. TRACE_CUDA_CHECK adds `race`, `init`, `init_shared` and `sync`. With `init`, memory
  /// that is allocated by cuMemAlloc and cuMemAllocAsync counts as never written.
  Checks checks{};
  /// Reports memory that is not freed when the context is released or the process ends, which then has status 1.
  /// TRACE_CUDA_CHECK=leak sets it.
  bool leak_check = false;
  /// TRACE_CUDA_CHECK sets it: `shuffle` is StaleShuffle::fault, `zero_shuffle` StaleShuffle::zero.
  StaleShuffle stale_shuffle = StaleShuffle::fault_if_idx;
};

/// Configures the device. False, without effect, after the first cuInit.
bool set_cpu_driver_options(CpuDriverOptions const& options);

/// The fault that broke the context.
struct CpuDriverFault {
  CUresult code = CUDA_SUCCESS;  ///< the result of every call since then
  /// The launch: tracing::cuda::current_launch() when it was made. Zero if it was not made through a Driver.
  tracing::cuda::LaunchId launch = 0;
  CUstream stream = nullptr;  ///< the stream of the launch
  Fault fault;                ///< the kernel, the line of its PTX, the block and its threads
};

/// The first fault, if there was one. Exact, whereas a GPU only reports that one of the running kernels failed.
/// Thread-safe.
std::optional<CpuDriverFault> cpu_driver_last_fault();

/// For a tracing::cuda::Driver of cpu_driver_api(): which launch failed, and why a call failed.
tracing::cuda::DriverOptions cpu_driver_options();

/// Details about the error of this thread's latest call: the unsupported instruction and its line, the invalid
/// argument. Empty if there are none.
std::string cpu_driver_last_message();

}  // namespace cuda_cpu
