#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda"
#include "tracing_core/cuda/driver.h"

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tracing_core/cuda/device_times.h"
#include "tracing_core/cuda/device_times/event_times.h"
#include "tracing_core/cuda/driver/driver_state.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::MutexLock;

struct Drivers {
  tracing::support::Mutex mutex;
  std::vector<Driver*> alive TRACING_GUARDED_BY(mutex);
  std::vector<Loss> losses_of_destroyed TRACING_GUARDED_BY(mutex);
};

Drivers& drivers() {
  static auto& instance = *new Drivers;  // never destroyed: drivers may outlive static destructors
  return instance;
}

bool is_blocking(DriverOptions const& options) {
  if (options.launch_blocking) return *options.launch_blocking;
  char const* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && std::string_view(value) == "1";
}

// What a driver in this process can report.
struct OptionsOfDriver {
  decltype(DriverApi::init) init = nullptr;
  DriverOptions options;
};
OptionsOfDriver& options_of_driver() {
  static auto& instance = *new OptionsOfDriver;
  return instance;
}

DriverOptions completed(DriverApi const& api, DriverOptions given) {
  OptionsOfDriver const& known = options_of_driver();
  if (api.init == nullptr || api.init != known.init) return given;
  if (!given.failed_launch) given.failed_launch = known.options.failed_launch;
  if (!given.last_message) given.last_message = known.options.last_message;
  given.measures_launches |= known.options.measures_launches;
  return given;
}

}  // namespace

void internal::set_options_of_driver(decltype(DriverApi::init) init, DriverOptions options) {
  options_of_driver() = {init, std::move(options)};
}

Driver::State::State(DriverApi const& table, DriverOptions given)
    : options(completed(table, std::move(given))),
      api(internal::with_event_times_if_asked(table, options.measures_launches)),
      blocking(is_blocking(options)) {}

Driver::Driver(DriverApi const& api, DriverOptions options) : state_(std::make_unique<State>(api, std::move(options))) {
  if (state_->blocking) {
    TRACE_INFO("Each launch waits for its kernel to end: {}",
               state_->options.launch_blocking ? "DriverOptions::launch_blocking" : "CUDA_LAUNCH_BLOCKING=1");
  }
  MutexLock const lock(drivers().mutex);
  drivers().alive.push_back(this);
}

Driver::~Driver() {
  MutexLock const lock(drivers().mutex);
  std::erase(drivers().alive, this);
  if (auto lost = loss()) drivers().losses_of_destroyed.push_back(std::move(*lost));
}

void for_each_driver(std::function<void(Driver&)> const& f) {
  MutexLock const lock(drivers().mutex);
  for (Driver* const driver : drivers().alive) f(*driver);
}

bool Driver::visit_outstanding(void (*visit)(void* context, Launch const& launch), void* context) noexcept {
  if (!drivers().mutex.try_lock()) return false;
  bool is_complete = true;
  for (Driver* const driver : drivers().alive)
    is_complete &= driver->state_->log.try_visit([&](Launch const& launch) { visit(context, launch); });
  drivers().mutex.unlock();
  return is_complete;
}

std::vector<Loss> take_losses_of_destroyed_drivers() {
  MutexLock const lock(drivers().mutex);
  return std::exchange(drivers().losses_of_destroyed, {});
}

DriverApi const& Driver::api() const noexcept { return state_->api; }
std::vector<Launch> Driver::outstanding_launches() const { return state_->log.outstanding(); }

CUresult Driver::open_device(int ordinal, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "open_device", tracing::kv("device", ordinal));
  DriverApi const& api = state_->api;
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (auto const code = check(api.init(0), "cuInit(0)"); code != CUDA_SUCCESS) return code;
  auto code = state_->check(api.device_get(&device, ordinal), "cuDeviceGet({})", ordinal);
  if (code != CUDA_SUCCESS) return code;
  code = state_->check(api.device_primary_ctx_retain(&context, device), "cuDevicePrimaryCtxRetain(device {})", ordinal);
  if (code != CUDA_SUCCESS) return code;
  {
    MutexLock const lock(state_->mutex);
    state_->context = context;
    state_->device = ordinal;
  }
  code = make_current();
  if (code != CUDA_SUCCESS) return code;
  std::array<char, 128> name{};
  int major = 0;
  int minor = 0;
  std::size_t memory_bytes = 0;
  api.device_get_name(name.data(), static_cast<int>(name.size()), device);
  api.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  api.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  api.device_total_mem(&memory_bytes, device);
  TRACE_INFO("Using {}, compute capability {}.{}", std::string_view(name.data()), major, minor,
             tracing::kv("device", ordinal), memory_bytes);
  return CUDA_SUCCESS;
}

CUcontext Driver::State::opened() const {
  MutexLock const lock(mutex);
  return context;
}

bool Driver::has_device() const { return state_->opened() != nullptr; }

CUresult Driver::make_current(Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  CUcontext const context = state_->opened();
  return check(context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : state_->api.ctx_set_current(context),
               "cuCtxSetCurrent()");
}

CUresult Driver::ctx_synchronize(Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "ctx_synchronize", tracing::kv("device", state_->device.load()));
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.ctx_synchronize();
  if (result == CUDA_SUCCESS)
    state_->report_completed(state_->log.complete_all(before, state_->reported()), "cuCtxSynchronize");
  flush_device_times();
  return check(result, "cuCtxSynchronize()");
}

CUresult Driver::check_device(Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  CUcontext const context = state_->opened();
  if (context == nullptr) return CUDA_SUCCESS;
  CUcontext current = nullptr;
  state_->api.ctx_get_current(&current);
  if (current == context) return ctx_synchronize();
  if (auto const code = make_current(); code != CUDA_SUCCESS) return code;
  CUresult const result = ctx_synchronize();
  state_->api.ctx_set_current(current);
  return result;
}

}}}  // namespace tracing::v1::cuda
