#include "cuda_cpu/process/exit_status.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/unnoticed.h"

namespace cuda_cpu::process {
namespace {

using cpu::Device;

constexpr std::chrono::seconds kMaxWait{10};

void (*report_fault)() = nullptr;
constinit std::atomic<bool> has_exited{false};
constinit std::atomic<int> status_of_program{0};

// Returns false in a forked child, which has no device, and on a thread of the device, which would wait for itself.
bool can_wait() noexcept { return Device::get() != nullptr && cpu::check_started() == CUDA_SUCCESS; }

void wait_and_report() {
  Device& device = *Device::get();
  if (!device.streams.wait_until(device.streams.end_of_all(), std::chrono::steady_clock::now() + kMaxWait)) {
    std::fputs(
        "testlog: the program ended while a kernel was running, and 10 s later it still ran; "
        "TRACE_CUDA_TIMEOUT=<seconds> ends such a kernel and says where it is\n",
        stderr);
  }
  if (device.sticky() != CUDA_SUCCESS) report_fault();
}

// Runs before the destructors of objects that the program made before it used CUDA.
void at_exit(int status, void*) noexcept {
  status_of_program = status;
  has_exited = true;
  try {
    if (can_wait()) wait_and_report();
  } catch (...) {  // out of memory
  }
}

char const* unnoticed() noexcept {
  if (Device::get()->sticky() != CUDA_SUCCESS) return "a kernel failed";
  if (was_refused()) return "a kernel was not run because it is not supported";
  if (has_ignored_errors()) return "a call failed and the program did not ask for its error";
  return nullptr;
}

// Runs after the functions of atexit() and the destructors of static objects. At that point only _exit() can change the
// status.
[[gnu::destructor]] void choose_status() {
  if (!has_exited || status_of_program != 0 || !can_wait() || !Device::get()->options.changes_status) return;
  char const* const reason = unnoticed();
  if (reason == nullptr) return;
  std::fprintf(stderr, "testlog: %s, so the status is 1 in place of 0 (TRACE_CUDA_STATUS=off keeps 0)\n", reason);
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace

void watch_exit(void (*report)()) {
  report_fault = report;
  on_exit(at_exit, nullptr);
}

}  // namespace cuda_cpu::process
