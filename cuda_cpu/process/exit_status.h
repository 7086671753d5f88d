// What the program left unnoticed when it ends: the process then says so and ends with status 1 in place of 0.
//
// Counts are: a kernel that failed; a launch that was refused because the kernel or the launch is not supported; a call
// of the runtime that frees what is not allocated, or copies beyond an allocation, if the program never asks for the
// error. Other failed calls do not count: programs try calls, and only they know whether they looked at the result.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::process {

/// Registers what is done at exit(): waits for the work of the device for at most ten seconds, reports a fault that no
/// call has returned, and chooses the status. Programs that end by _exit(), abort() or a signal are not changed. Call
/// it once.
void watch_exit();

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

}  // namespace cuda_cpu::process
