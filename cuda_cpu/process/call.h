// How each call of the runtime's stand-in begins and ends: the state of the thread, the opened device, and the errors
// that cudaGetLastError() returns. The driver's stand-in makes calls of the runtime, too.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <new>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/failed_calls.h"
#include "cuda_cpu/process/thread_state.h"

namespace cuda_cpu::process {

/// Calls tracing::init_from_env() for a program without a subscriber if variables of testlog are set. Thread-safe.
void start_tracing();

/// Opens the device at the first call, after start_tracing(), and makes its context current on this thread.
cudaError_t start();
/// As start(), but returns the error of a refused launch as keep_refusal() says.
cudaError_t start_after_refusals();

/// The function that makes a call, by its bare name. As std::source_location, which Clang 14 lacks.
class Where {
 public:
  static constexpr Where current(char const* function = __builtin_FUNCTION()) noexcept { return Where(function); }
  constexpr char const* function_name() const noexcept { return function_; }

 private:
  constexpr explicit Where(char const* function) noexcept : function_(function) {}
  char const* function_;
};

/// Keeps the error for cudaGetLastError(), reports it, and returns it. `where` is in the function that failed. If no
/// subscriber gets errors, explains the first error that loses the context on stderr.
cudaError_t finish_call(cudaError_t error, Where const& where) noexcept;
/// As finish_call(), for functions that fail without call().
cudaError_t finish(cudaError_t error, Where const& where = Where::current()) noexcept;

/// Runs the body of a call, which returns a cudaError_t or a CUresult. Exceptions become errors.
template <auto kStart = start_after_refusals, class Body>
[[gnu::always_inline]] inline cudaError_t call(Body const& body, Where const& where = Where::current()) noexcept {
  cpu::CallerScope const caller;
  try {
    if (cudaError_t const error = kStart(); error != cudaSuccess) return finish_call(error, where);
    return finish_call(graph::to_error(body()), where);
  } catch (std::bad_alloc const&) {
    return finish_call(cudaErrorMemoryAllocation, where);
  } catch (...) {
    return finish_call(cudaErrorUnknown, where);
  }
}

/// As call(), for calls that free or destroy: they work after a refused launch, because destructors make them.
template <class Body>
[[gnu::always_inline]] inline cudaError_t release_call(Body const& body,
                                                       Where const& where = Where::current()) noexcept {
  return call<start>(body, where);
}

}  // namespace cuda_cpu::process
