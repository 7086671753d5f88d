#include "tracing_core/cuda/device_times.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tracing_core/cuda/device_times/event_times.h"
#include "tracing_core/emit/macros.h"
#if defined(TRACING_CUDA_HAS_CUPTI)
#include "tracing_core/cuda/device_times/cupti_library.h"
#include "tracing_core/cuda/device_times/device_times.h"
#endif

#include "tracing_core/support/short_macros.inc"

#define TRACE_TARGET "tracing::cuda"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

bool is_asked(std::string_view word) noexcept {
  char const* const value = std::getenv("TRACE_CUDA_DEVICE_TIMES");
  return value != nullptr && value == word;
}

void report_events() {
  TRACE_INFO("Device times of a Driver's calls are measured by events, which are part of the times");
}

}  // namespace

#if defined(TRACING_CUDA_HAS_CUPTI)
namespace {

std::atomic<internal::DeviceTimes*> running{nullptr};

// The CPU device reports what it does by itself, and CUPTI does not know it.
bool is_cpu_device() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  auto const init = reinterpret_cast<decltype(&cuInit)>(dlsym(library, "cuInit"));
  auto const get_name = reinterpret_cast<decltype(&cuDeviceGetName)>(dlsym(library, "cuDeviceGetName"));
  char name[64] = "";
  bool const is_named = init != nullptr && get_name != nullptr && init(0) == CUDA_SUCCESS &&
                        get_name(name, static_cast<int>(sizeof name), 0) == CUDA_SUCCESS;
  dlclose(library);
  return is_named && std::string_view(name).starts_with("testlog CPU device");
}

std::string start() {
  if (is_cpu_device()) return {};
  CuptiLibrary const cupti = load_cupti();
  if (!cupti) return cupti.explanation;
  auto times = std::make_unique<internal::DeviceTimes>(cupti.api);
  std::string explanation = times->start();
  if (!explanation.empty()) return explanation;
  running = times.release();  // never destroyed: CUPTI calls it until the process ends
  std::atexit([] { flush_device_times(true); });
  return {};
}

void flush_cupti(bool all_ended) noexcept {
  if (internal::DeviceTimes* const times = running) times->flush(all_ended);
}

}  // namespace

std::string const& start_device_times() {
  static auto const& explanation = *new std::string(start());
  return explanation;
}

#else
std::string const& start_device_times() {
  static auto const& explanation = *new std::string(
      "No device times: testlog was built without CUPTI's headers (cupti.h of the CUDA Toolkit, in include or "
      "extras/CUPTI/include).");
  return explanation;
}

namespace {

void flush_cupti(bool) noexcept {}

}  // namespace
#endif

void flush_device_times(bool all_ended) noexcept {
  flush_cupti(all_ended);
  if (internal::EventTimes* const times = internal::EventTimes::running()) times->flush(all_ended);
}

void start_device_times_if_asked() {
  if (!is_asked("on")) return;
  static std::atomic<bool> reported{false};
  std::string const& explanation = start_device_times();
  if (!explanation.empty() && !reported.exchange(true)) TRACE_WARN("{}", explanation);
}

namespace internal {

DriverApi with_event_times_if_asked(DriverApi const& api, bool reports_activity) {
  if (!reports_activity) start_device_times_if_asked();
  bool const lacks_cupti = is_asked("on") && !reports_activity && !start_device_times().empty();
  if (!lacks_cupti && !is_asked("events")) return api;
  static tracing::support::Mutex mutex;
  tracing::support::MutexLock const lock(mutex);
  EventTimes* times = EventTimes::running();
  if (times == nullptr) {
    times = new EventTimes(api);  // never destroyed: Drivers may make calls until the process ends
    report_events();
  }
  return times->is_of(api) ? times->measuring() : api;
}

}  // namespace internal
}}}  // namespace tracing::v1::cuda
