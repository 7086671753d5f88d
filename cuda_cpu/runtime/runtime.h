// What the calls of the stand-in for CUDA's runtime library share: the driver, errors, and how each call begins.
//
// The stand-in defines the functions of cuda_runtime_api.h, and those that nvcc's code calls, over a
// tracing::cuda::Driver of the CPU backend. Each file defines the functions of one chapter of NVIDIA's reference, as it
// documents them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tracing_core/cuda/driver.h"

namespace cuda_cpu::runtime {

/// The driver of the process. Its device is open once start() has succeeded. Never destroyed.
tracing::cuda::Driver& driver();

/// What a launch by `<<<>>>` passes to the function that launches.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

struct ThreadState {
  cudaError_t last_error = cudaSuccess;
  bool is_current = false;           // the context is current on this thread
  bool per_thread_streams = false;   // stream 0 is the thread's own, see PerThreadStreams
  std::vector<LaunchConfiguration> configurations;

  void end() noexcept { std::vector<LaunchConfiguration>().swap(configurations); }
};
ThreadState& this_thread() noexcept;

/// In its scope stream 0 is the default stream of the thread: for the functions that end in _ptsz and _ptds, which
/// programs call that are compiled with --default-stream per-thread.
class [[nodiscard]] PerThreadStreams {
 public:
  PerThreadStreams() noexcept : outer_(this_thread().per_thread_streams) { this_thread().per_thread_streams = true; }
  PerThreadStreams(PerThreadStreams const&) = delete;
  PerThreadStreams& operator=(PerThreadStreams const&) = delete;
  ~PerThreadStreams() { this_thread().per_thread_streams = outer_; }

 private:
  bool const outer_;
};

/// The stream that an argument of a call names.
inline CUstream stream_of(cudaStream_t stream) noexcept {
  return stream == nullptr && this_thread().per_thread_streams ? CU_STREAM_PER_THREAD : stream;
}

/// The codes of driver and runtime have the same numbers.
constexpr cudaError_t to_error(CUresult result) noexcept { return static_cast<cudaError_t>(result); }
constexpr cudaError_t to_error(cudaError_t error) noexcept { return error; }

/// Calls tracing::init_from_env() for a program without a subscriber if variables of testlog are set. Thread-safe.
void start_tracing();

/// Opens the device at the first call, after start_tracing(), and makes its context current on this thread.
cudaError_t start();

/// Keeps the error for cudaGetLastError() and returns it. If no subscriber gets errors, the first error that loses the
/// context is explained on stderr.
cudaError_t finish(cudaError_t error) noexcept;

/// Records an error of the stand-in itself, which the driver does not know; on stderr if no subscriber gets errors.
/// Returns `error`.
cudaError_t refuse(cudaError_t error, std::string_view message) noexcept;

/// If `result` loses the context and no subscriber gets errors, explains on stderr, once, how it was lost.
void explain_if_lost(CUresult result) noexcept;

/// The size of PTX or of a fat binary in memory.
std::size_t bytes_of(void const* image);

/// For an error that the driver has reported already: on stderr if no subscriber gets errors.
void explain(std::string_view message) noexcept;

/// Runs the body of a call, which returns a cudaError_t or a CUresult. Exceptions become errors.
template <class Body>
cudaError_t call(Body const& body) noexcept {
  try {
    if (cudaError_t const error = start(); error != cudaSuccess) return finish(error);
    return finish(to_error(body()));
  } catch (std::bad_alloc const&) {
    return finish(cudaErrorMemoryAllocation);
  } catch (...) {
    return finish(cudaErrorUnknown);
  }
}

}  // namespace cuda_cpu::runtime
