#include "tracing_core/cuda/device_times.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tracing_core/emit/macros.h"
#if defined(TRACING_CUDA_HAS_CUPTI)
#include "tracing_core/cuda/device_times/cupti_library.h"
#include "tracing_core/cuda/device_times/device_times.h"
#endif

#include "tracing_core/support/short_macros.inc"

#define TRACE_TARGET "tracing::cuda"

namespace tracing { inline namespace v1 { namespace cuda {

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

}  // namespace

std::string const& start_device_times() {
  static auto const& explanation = *new std::string(start());
  return explanation;
}

void flush_device_times(bool all_ended) noexcept {
  if (internal::DeviceTimes* const times = running) times->flush(all_ended);
}
#else
std::string const& start_device_times() {
  static auto const& explanation = *new std::string(
      "No device times: testlog was built without CUPTI's headers (cupti.h of the CUDA Toolkit, in include or "
      "extras/CUPTI/include).");
  return explanation;
}

void flush_device_times(bool) noexcept {}
#endif

void start_device_times_if_asked() {
  char const* const value = std::getenv("TRACE_CUDA_DEVICE_TIMES");
  if (value == nullptr || std::string_view(value) != "on") return;
  static std::atomic<bool> reported{false};
  std::string const& explanation = start_device_times();
  if (!explanation.empty() && !reported.exchange(true)) TRACE_WARN("{}", explanation);
}

}}}  // namespace tracing::v1::cuda
