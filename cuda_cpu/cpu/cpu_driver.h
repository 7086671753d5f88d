// Declares the CPU backend: the calls of the CUDA driver, implemented on host threads. They behave as cuda.h documents,
// so that code tested against them runs on a GPU unchanged.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda_cpu/executor/executor.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/driver_api.h"

namespace cuda_cpu {

/// Returns the complete table of calls. The backend has one device of compute capability 9.0 with one primary context.
/// It starts its first thread when a stream has work. Modules are PTX or fat binaries that have PTX. Calls that cuda.h
/// leaves undefined fail: a stale handle is CUDA_ERROR_INVALID_HANDLE.
///
/// To inject faults in a test, replace entries of the table.
tracing::cuda::DriverApi cpu_driver_api() noexcept;

struct CpuDriverOptions {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< capacity of the device; TRACE_CUDA_MEMORY wins
  unsigned workers = 0;  ///< number of multiprocessors: threads that run blocks; 0: one per core
  /// A launch that runs longer than this after its first block began is CUDA_ERROR_LAUNCH_TIMEOUT; its fault says where
  /// each warp is. Zero: four fifths of the TIMEOUT of a test that testlog_discover_tests() made; never in other
  /// programs. TRACE_CUDA_TIMEOUT, in seconds, wins.
  std::chrono::nanoseconds timeout{0};
  /// The checks that launches run with. TRACE_CUDA_CHECK adds `race`, `init`, `init_shared` and `sync`. With `init`,
  /// memory from cuMemAlloc and cuMemAllocAsync counts as never written until something writes it.
  Checks checks{};
  /// Reports memory that is not freed when the context is released or the process ends, which then has status 1.
  /// TRACE_CUDA_CHECK=leak sets it.
  bool leak_check = false;
  /// The number of host frames that messages about an allocation, a free or a launch name, 0 to 8, if the call went
  /// through the stand-ins for NVIDIA's libraries. TRACE_CUDA_FRAMES wins.
  unsigned frames = 3;
  /// Off: no finding changes the status of the process. TRACE_CUDA_STATUS wins.
  bool changes_status = true;
  /// TRACE_CUDA_CHECK sets it: `shuffle` is StaleShuffle::fault, `zero_shuffle` is StaleShuffle::zero.
  StaleShuffle stale_shuffle = StaleShuffle::fault_if_idx;
};

/// Configures the device. Returns false, without effect, after the first cuInit.
bool set_cpu_driver_options(CpuDriverOptions const& options);

/// The fault that broke the context.
struct CpuDriverFault {
  CUresult code = CUDA_SUCCESS;  ///< the result of every call since the fault
  /// The failed launch: tracing::cuda::current_launch() at its call. Zero if it was not made through a Driver.
  tracing::cuda::LaunchId launch = 0;
  CUstream stream = nullptr;  ///< the stream of the launch
  Fault fault;                ///< the kernel, the line of its PTX, the block and its threads
  std::string work = {};      ///< what failed, if it was no kernel: "cublasSgemm()"
};

/// Returns the first fault, if a kernel failed. The fault names the kernel; a GPU only reports that some running kernel
/// failed. Thread-safe.
std::optional<CpuDriverFault> cpu_driver_last_fault();

/// Returns the options for a tracing::cuda::Driver of cpu_driver_api(). They explain which launch failed and why a call
/// failed.
tracing::cuda::DriverOptions cpu_driver_options();

/// Returns details about the error of this thread's latest call, such as the unsupported instruction and its line, or
/// the invalid argument. Empty if it has none.
std::string cpu_driver_last_message();

}  // namespace cuda_cpu
