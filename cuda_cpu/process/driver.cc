#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/process/driver.h"

#include <atomic>
#include <string>
#include <utility>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/capture_calls.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/exit_status.h"
#include "cuda_cpu/process/thread_state.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::process {
namespace {

constinit std::atomic<bool> is_lost{false};  // a call has returned the error that lost the context

// A fault is reported by the call that returns it. If no call has returned it, this call does.
void report_fault() {
  tracing::internal::CallerScope const nobody{tracing::internal::CurrentCaller{}};
  if (!driver().loss()) explain_if_lost(driver().check_device());
}

// Returns what to run next after a fault.
std::string next_step() {
  std::string text = "next: ";
  auto const fault = cpu_driver_last_fault();
  if (fault && fault->fault.line != 0 && fault->fault.source.empty())
    text += "nvcc -lineinfo adds the line of source; ";
  text += "TRACE_FILTER=trace shows the calls before it";
  if (!cpu::Device::get()->options.checks.any()) text += "; TRACE_CUDA_CHECK=all looks for more";
  return text;
}

}  // namespace

tracing::cuda::Driver& driver() {
  static auto& its = []() -> tracing::cuda::Driver& {
    watch_exit(report_fault);
    auto options = cpu_driver_options();
    options.failed_call = keep_failed_call;
    return *new tracing::cuda::Driver(graph::with_captures(cpu_driver_api()), std::move(options));
  }();
  return its;
}

void explain_if_lost(CUresult result) noexcept {
  static std::atomic<bool> was_explained{false};
  if (tracing::cuda::lost_with(result) == tracing::cuda::Lost::nothing || cpu::Device::get() == nullptr) return;
  is_lost.store(true, std::memory_order_relaxed);
  tracing::internal::SilenceScope const heard(false);
  if (TRACE_ENABLED(error)) return;
  if (was_explained.exchange(true)) return;
  try {
    if (auto const loss = driver().loss()) graph::explain(loss->to_string());
    graph::explain(next_step());
  } catch (...) {  // out of memory
  }
}

bool is_known_as_lost() noexcept { return is_lost.load(std::memory_order_relaxed); }

}  // namespace cuda_cpu::process
