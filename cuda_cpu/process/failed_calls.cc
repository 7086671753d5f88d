#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/process/failed_calls.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/thread_state.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::process {
namespace {

constexpr std::size_t kMaxSaid = 10;

// Returns `cudaFree()` for cudaFree, and `a call of the runtime` for the name of a helper.
std::string name_of(std::string_view function) {
  bool const is_public = function.starts_with("cuda") || function.starts_with("__cuda");
  return is_public ? std::string(function) + "()" : "a call of the runtime";
}

// Returns " at pool.cc:88"; empty if it is not known where the program made the call.
std::string place_of_call() {
  CallSite const site = cpu::this_call();
  return site.empty() ? std::string() : std::string(" at ").append(site.text());
}

// Says a text, and where the program made the call, unless the text was said before.
void say_once(std::string_view text) {
  tracing::internal::SilenceScope const heard(false);
  if (TRACE_ENABLED(error)) return;
  static tracing::support::Mutex mutex;
  static auto& said = *new std::set<std::string, std::less<>>;
  std::size_t count = 0;
  {
    tracing::support::MutexLock const lock(mutex);
    if (said.size() > kMaxSaid || !said.emplace(text).second) return;
    count = said.size();
  }
  if (count > kMaxSaid)
    graph::explain("further failed calls are not listed; TRACE_FILTER=warn shows them all");
  else
    graph::explain(std::string(text).append(place_of_call()));
}

// Returns true if every call fails, for a reason that was reported.
bool all_calls_fail() noexcept { return cpu::Device::get() != nullptr && cpu::Device::get()->sticky() != CUDA_SUCCESS; }

void report(cudaError_t error, std::string_view function) {
  FailedCall const failed = std::exchange(this_thread().failed_call, {});
  std::string_view const name = graph::error_name(error);
  std::string_view const reason = failed.detail.empty() ? graph::error_description(error) : failed.detail;
  // The driver's failed calls are events already.
  if (failed.call.empty())
    TRACE_ERROR("{} failed: {}", function, reason, tracing::kv("error", tracing::display(name)),
                tracing::kv("code", static_cast<int>(error)));
  say_once(fmt::format("{}{}{} returned {} ({})", reason == name ? "" : reason, reason == name ? "" : "; ", function,
                       name, static_cast<int>(error)));
}

}  // namespace

void forget_failed_call() noexcept {
  graph::was_explained() = false;
  FailedCall& failed = this_thread().failed_call;
  if (!failed.call.empty()) [[unlikely]]
    failed = {};
}

void report_failed_call(cudaError_t error, char const* function) noexcept {
  if (error == cudaErrorNotReady || graph::was_explained() || all_calls_fail()) return;
  try {
    report(error, name_of(function));
  } catch (...) {  // out of memory
  }
  graph::was_explained() = true;
}

void report_failed_call(std::string_view call, std::string_view reason, std::string_view status, int code) noexcept {
  try {
    TRACE_ERROR("{} failed: {}", call, reason, tracing::kv("error", tracing::display(status)), code);
    say_once(fmt::format("{}{}{} returned {} ({})", reason, reason.empty() ? "" : "; ", call, status, code));
  } catch (...) {  // out of memory
  }
}

void report_failed_call(CUresult result) noexcept {
  FailedCall& failed = this_thread().failed_call;
  if (failed.call.empty() || all_calls_fail()) return;
  try {
    std::string_view const reason =
        failed.detail.empty() ? tracing::cuda::error_description(result) : std::string_view(failed.detail);
    say_once(fmt::format("{}; {} returned {} ({})", reason, failed.call, tracing::cuda::error_name(result),
                         static_cast<int>(result)));
  } catch (...) {  // out of memory
  }
  failed = {};
}

}  // namespace cuda_cpu::process
