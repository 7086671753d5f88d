#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/lasting_thread_local.h"
#include "cuda_cpu/runtime/capture_calls.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/environment/init.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::runtime {
namespace {

constexpr char const* kVariables[] = {"TRACE_FILTER", "TRACE_PROFILE", "TRACE_CHROME",   "TRACE_FLAME",
                                      "TRACE_RECORD", "TRACE_PERF",    "TRACE_PERFETTO", "TRACE_XPLANE"};

constinit std::atomic<bool> is_lost{false};  // a call has returned the error that lost the context

void print(std::string_view message) noexcept {
  std::fprintf(stderr, "testlog: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace

// Programs that do not know of testlog; test programs have a subscriber before they call anything.
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

void explain_if_lost(CUresult result) noexcept {
  static std::atomic<bool> was_explained{false};
  if (tracing::cuda::lost_with(result) == tracing::cuda::Lost::nothing || cpu::Device::get() == nullptr) return;
  is_lost.store(true, std::memory_order_relaxed);
  if (TRACE_ENABLED(error)) return;
  if (was_explained.exchange(true)) return;
  try {
    if (auto const loss = driver().loss()) print(loss->to_string());
  } catch (...) {  // out of memory
  }
}

tracing::cuda::Driver& driver() {
  static auto& its = *new tracing::cuda::Driver(with_captures(cpu_driver_api()), cpu_driver_options());
  return its;
}

ThreadState& this_thread() noexcept { return cpu::lasting_thread_local<ThreadState>(); }

cudaError_t start() {
  ThreadState& thread = this_thread();
  // Once a call has said that the context is lost, those that do not need the driver say so, too.
  if (is_lost.load(std::memory_order_relaxed) && cpu::Device::get()->sticky() != CUDA_SUCCESS) [[unlikely]]
    return to_error(cpu::Device::get()->sticky());
  // A program that calls the driver, too, may have taken the context away.
  if (thread.is_current && cpu::this_thread().current != nullptr) return cudaSuccess;
  static CUresult const opened = [] {
    start_tracing();
    return driver().open_device(0);
  }();
  if (opened != CUDA_SUCCESS) return to_error(opened);
  CUresult const result = driver().make_current();
  thread.is_current = result == CUDA_SUCCESS;
  return to_error(result);
}

cudaError_t finish(cudaError_t error) noexcept {
  if (error == cudaSuccess) [[likely]]
    return error;
  this_thread().last_error = error;
  explain_if_lost(static_cast<CUresult>(error));
  return error;
}

void explain(std::string_view message) noexcept {
  if (!TRACE_ENABLED(error)) print(message);
}

cudaError_t refuse(cudaError_t error, std::string_view message) noexcept {
  try {
    TRACE_ERROR("{}", message, tracing::kv("error", tracing::display(cudaGetErrorName(error))),
                tracing::kv("code", static_cast<int>(error)));
    explain(fmt::format("{}: {}", cudaGetErrorName(error), message));
  } catch (...) {  // out of memory
  }
  return error;
}

// For refused.cc.
int refuse_call(char const* name, char const* reason) noexcept;
int refuse_call(char const* name, char const* reason) noexcept {
  return call([&] {
    std::string_view const why = reason;
    return refuse(cudaErrorNotSupported, fmt::format("{}() is not supported{}{}", name, why.empty() ? "" : ": ", why));
  });
}

}  // namespace cuda_cpu::runtime
