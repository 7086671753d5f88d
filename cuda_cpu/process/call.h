// How each call of the runtime's stand-in begins and ends: the state of the thread, the opened device, and the errors
// that cudaGetLastError() returns. The driver's stand-in makes calls of the runtime, too.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>
#include <vector>

#include "cuda_cpu/graph/errors.h"

namespace cuda_cpu::process {

/// The arguments of a launch by `<<<>>>`, which the generated code passes to the function that launches.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

struct RuntimeThreadState {
  cudaError_t last_error = cudaSuccess;
  bool is_current = false;          // the context is current on this thread
  bool per_thread_streams = false;  // stream 0 is the thread's own, see PerThreadStreams
  bool has_ignored = false;         // see note_failed_call()
  std::vector<LaunchConfiguration> configurations;

  void end() noexcept { std::vector<LaunchConfiguration>().swap(configurations); }
};
RuntimeThreadState& this_thread() noexcept;

/// Calls tracing::init_from_env() for a program without a subscriber if variables of testlog are set. Thread-safe.
void start_tracing();

/// Opens the device at the first call, after start_tracing(), and makes its context current on this thread.
cudaError_t start();
/// As start(), but returns the error of a refused launch as keep_refusal() says.
cudaError_t start_after_refusals();

/// Keeps the error for cudaGetLastError() and returns it. If no subscriber gets errors, explains the first error that
/// loses the context on stderr.
cudaError_t finish(cudaError_t error) noexcept;

/// If `result` loses the context and no subscriber gets errors, explains on stderr, once, how it was lost.
void explain_if_lost(CUresult result) noexcept;

/// Runs the body of a call, which returns a cudaError_t or a CUresult. Exceptions become errors.
template <auto kStart = start_after_refusals, class Body>
cudaError_t call(Body const& body) noexcept {
  try {
    if (cudaError_t const error = kStart(); error != cudaSuccess) return finish(error);
    return finish(graph::to_error(body()));
  } catch (std::bad_alloc const&) {
    return finish(cudaErrorMemoryAllocation);
  } catch (...) {
    return finish(cudaErrorUnknown);
  }
}

/// As call(), for calls that free or destroy: they work after a refused launch, because destructors make them.
template <class Body>
cudaError_t release_call(Body const& body) noexcept {
  return call<start>(body);
}

}  // namespace cuda_cpu::process
