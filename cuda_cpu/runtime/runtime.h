// The stand-in for CUDA's runtime library defines the functions of cuda_runtime_api.h, and the functions that code made
// by nvcc calls. Each file defines the functions of one chapter of NVIDIA's reference, as it documents them. This
// header has what they share beside cuda_cpu/process: streams of threads, and variables of the device.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/call.h"
#include "cuda_cpu/process/driver.h"

namespace cuda_cpu::runtime {

using namespace graph;
using namespace process;

/// In its scope stream 0 is the default stream of the thread. The functions that end in _ptsz and _ptds use it:
/// programs that are compiled with --default-stream per-thread call them.
class [[nodiscard]] PerThreadStreams {
 public:
  PerThreadStreams() noexcept : outer_(this_thread().per_thread_streams) { this_thread().per_thread_streams = true; }
  PerThreadStreams(PerThreadStreams const&) = delete;
  PerThreadStreams& operator=(PerThreadStreams const&) = delete;
  ~PerThreadStreams() { this_thread().per_thread_streams = outer_; }

 private:
  bool const outer_;
};

/// Returns the stream that an argument of a call names.
inline CUstream stream_of(cudaStream_t stream) noexcept {
  return stream == nullptr && this_thread().per_thread_streams ? CU_STREAM_PER_THREAD : stream;
}

/// Returns cudaErrorInvalidDevice for any number but 0: there is one device.
constexpr cudaError_t check_device(int device) noexcept { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

/// Finds the memory at an offset in a variable of the device. An error, explained, if the variable ends before
/// `offset` + `bytes`.
cudaError_t at_symbol(void const* symbol, std::size_t bytes, std::size_t offset, std::byte** memory);

}  // namespace cuda_cpu::runtime
