// The state of a thread that calls the stand-ins.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/executor/call_site.h"

namespace cuda_cpu::process {

/// A failed call of the driver that was not reported yet. Empty if there is none.
struct FailedCall {
  std::string call;    // cuMemFree(0x1000)
  std::string detail;  // the reason, if more is known than the code
};

/// The arguments of a launch by `<<<>>>`, which the generated code passes to the function that launches.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  CallSite site{};
};

struct RuntimeThreadState {
  cudaError_t last_error = cudaSuccess;
  bool is_current = false;          // the context is current on this thread
  bool per_thread_streams = false;  // stream 0 is the thread's own, see PerThreadStreams
  bool has_ignored = false;         // see note_failed_call()
  std::vector<LaunchConfiguration> configurations;
  FailedCall failed_call;  // see keep_failed_call()

  void end() noexcept {
    std::vector<LaunchConfiguration>().swap(configurations);
    failed_call = FailedCall();
  }
};
RuntimeThreadState& this_thread() noexcept;

/// Keeps a failed call of the driver until the thread's call ends, see failed_calls.h. `detail` may be empty.
void keep_failed_call(std::string_view call, std::string_view detail);

}  // namespace cuda_cpu::process
