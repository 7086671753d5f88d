#include "cuda_cpu/process/call.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/driver.h"
#include "cuda_cpu/process/unnoticed.h"
#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/environment/init.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::process {
namespace {

constexpr char const* kVariables[] = {"TRACE_FILTER", "TRACE_PROFILE", "TRACE_CHROME",   "TRACE_FLAME",
                                      "TRACE_RECORD", "TRACE_PERF",    "TRACE_PERFETTO", "TRACE_XPLANE"};

}  // namespace

// For programs that do not know of testlog. Test programs have a subscriber before they call anything.
void start_tracing() {
  static std::once_flag started;
  std::call_once(started, [] {
    bool const is_wanted =
        std::ranges::any_of(kVariables, [](char const* name) { return secure_getenv(name) != nullptr; });
    if (!is_wanted || tracing::current_subscriber() != nullptr) return;
    static auto& guard = *new tracing::EnvGuard(tracing::init_from_env());  // finishes at exit
    static_cast<void>(guard);
  });
}

cudaError_t start() {
  RuntimeThreadState& thread = this_thread();
  forget_failed_call();
  // Once a call has said that the context is lost, calls that do not need the driver say so, too.
  if (is_known_as_lost() && cpu::Device::get()->sticky() != CUDA_SUCCESS) [[unlikely]]
    return graph::to_error(cpu::Device::get()->sticky());
  // A program that also calls the driver may have taken the context away.
  if (thread.is_current && cpu::this_thread().current != nullptr) return cudaSuccess;
  static CUresult const opened = [] {
    start_tracing();
    return driver().open_device(0);
  }();
  if (opened != CUDA_SUCCESS) return graph::to_error(opened);
  CUresult const result = driver().make_current();
  thread.is_current = result == CUDA_SUCCESS;
  return graph::to_error(result);
}

cudaError_t start_after_refusals() {
  cudaError_t const error = refusal_for_call();
  if (error == cudaSuccess) [[likely]]
    return start();
  graph::was_explained() = true;  // by the launch
  return error;
}

cudaError_t finish(cudaError_t error, Where const& where) noexcept {
  forget_failed_call();
  return finish_call(error, where);
}

cudaError_t finish_call(cudaError_t error, Where const& where) noexcept {
  if (error == cudaSuccess) [[likely]]
    return error;
  this_thread().last_error = error;
  note_failed_call(std::exchange(cpu::this_thread().is_memory_error, false));
  explain_if_lost(static_cast<CUresult>(error));
  report_failed_call(error, where.function_name());
  return error;
}

}  // namespace cuda_cpu::process
