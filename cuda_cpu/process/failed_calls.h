// Says on stderr which calls failed, for programs without a subscriber that gets errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace cuda_cpu::process {

/// Forgets what is kept, and what the thread has explained. Called at the beginning of a call.
void forget_failed_call() noexcept;

/// Reports that a call of the runtime failed, unless it has explained its error itself. `function` is its bare
/// name. Each text is said once, and at most ten are said.
void report_failed_call(cudaError_t error, char const* function) noexcept;
/// Reports that a call of another library failed: `cublasSgemm()`, the reason, and the name and number of its status.
void report_failed_call(std::string_view call, std::string_view reason, std::string_view status, int code) noexcept;
/// Reports a failed call of the driver.
void report_failed_call(CUresult result) noexcept;

}  // namespace cuda_cpu::process
