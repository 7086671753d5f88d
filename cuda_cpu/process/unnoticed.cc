#include "cuda_cpu/process/unnoticed.h"

#include <atomic>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/thread_state.h"

namespace cuda_cpu::process {
namespace {

using cpu::Device;

constinit std::atomic<bool> is_refused{false};
constinit std::atomic<int> refusal{cudaSuccess};          // the error that calls return
constinit std::atomic<bool> refusal_was_returned{false};  // by a call after the launch
constinit std::atomic<int> ignored_errors{0};

}  // namespace

cudaError_t keep_refusal(cudaError_t error) noexcept {
  if (Device::get() == nullptr || Device::get()->sticky() != CUDA_SUCCESS) return error;
  is_refused = true;
  refusal_was_returned = false;
  refusal = error;
  return error;
}

cudaError_t refusal_for_call() noexcept {
  if (refusal.load(std::memory_order_relaxed) == cudaSuccess) [[likely]]
    return cudaSuccess;
  refusal_was_returned = true;
  return static_cast<cudaError_t>(refusal.load());
}

void forget_refusal(cudaError_t error) noexcept {
  if (error == cudaSuccess || error != refusal || !refusal_was_returned) return;
  refusal = cudaSuccess;
}

void note_failed_call(bool is_memory_error) noexcept {
  if (!is_memory_error || this_thread().has_ignored) return;
  this_thread().has_ignored = true;
  ++ignored_errors;
}

void note_asked() noexcept {
  if (!this_thread().has_ignored) return;
  this_thread().has_ignored = false;
  --ignored_errors;
}

bool was_refused() noexcept { return is_refused; }

bool has_ignored_errors() noexcept { return ignored_errors > 0; }

}  // namespace cuda_cpu::process
