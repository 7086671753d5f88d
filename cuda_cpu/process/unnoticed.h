// Keeps the failures that the program has not noticed so far.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::process {

/// Keeps the error of a launch that is not supported. Until a later call has returned the error and the program has
/// then asked for it, all calls of the runtime fail with it: code that drops the error of the launch must not take the
/// memory that the kernel did not write for a result. Returns `error`.
cudaError_t keep_refusal(cudaError_t error) noexcept;
/// Returns the error that calls have to return after keep_refusal(), or cudaSuccess.
cudaError_t refusal_for_call() noexcept;
/// Called when cudaGetLastError() returns `error`.
void forget_refusal(cudaError_t error) noexcept;

/// Called when a call of the runtime failed on this thread. `is_memory_error`: it freed or copied memory that is not
/// allocated.
void note_failed_call(bool is_memory_error) noexcept;
/// Called when the program asks for this thread's last error.
void note_asked() noexcept;

/// True after keep_refusal().
bool was_refused() noexcept;
/// True if a thread has not asked for the error of note_failed_call().
bool has_ignored_errors() noexcept;

}  // namespace cuda_cpu::process
