#include "tracing_core/cuda/driver.h"

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <vector>

#include "tracing_core/cuda/driver_state.h"

namespace tracing::inline v1::cuda {
namespace {

struct Drivers {
  std::mutex mutex;
  std::condition_variable unused;
  std::map<Driver*, int> users;  // how many threads have each in hand
  std::vector<Loss> of_gone;
};

Drivers& drivers() {
  static auto& instance = *new Drivers;  // tests may end while drivers are still there
  return instance;
}

// All drivers there are, none of which can be destroyed before it is given back.
class InHand {
 public:
  InHand() {
    std::lock_guard const lock(drivers().mutex);
    for (auto const& [driver, users] : drivers().users) given_.push_back(driver);
    for (Driver* const driver : given_) ++drivers().users.at(driver);
  }
  InHand(InHand const&) = delete;
  InHand& operator=(InHand const&) = delete;
  ~InHand() {
    while (!given_.empty()) give_back();
  }

  Driver* next() const { return given_.empty() ? nullptr : given_.back(); }
  void give_back() {
    std::lock_guard const lock(drivers().mutex);
    --drivers().users.at(given_.back());
    given_.pop_back();
    drivers().unused.notify_all();
  }

 private:
  std::vector<Driver*> given_;
};

// Who asks that each launch waits for its end; empty where nobody does.
std::string_view who_blocks(DriverOptions const& options) {
  if (options.launch_blocking) return *options.launch_blocking ? "DriverOptions::launch_blocking" : "";
  char const* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && std::string_view(value) == "1" ? "CUDA_LAUNCH_BLOCKING" : "";
}

}  // namespace

Driver::State::State(DriverApi const& table, DriverOptions given)
    : api(table), options(std::move(given)), blocking_by(who_blocks(options)), blocking(!blocking_by.empty()) {}

Driver::Driver(DriverApi const& api, DriverOptions options) : state_(std::make_unique<State>(api, std::move(options))) {
  if (state_->blocking) {
    TRACE_INFO("Each launch waits for its end: {}={}", state_->blocking_by, state_->options.launch_blocking ? "true" : "1");
  }
  std::lock_guard const lock(drivers().mutex);
  drivers().users.emplace(this, 0);
}

Driver::~Driver() {
  std::unique_lock lock(drivers().mutex);
  drivers().unused.wait(lock, [&] { return drivers().users.at(this) == 0; });
  drivers().users.erase(this);
  if (auto lost = loss()) drivers().of_gone.push_back(std::move(*lost));
}

void for_each_driver(std::function<void(Driver&)> const& f) {
  InHand in_hand;
  for (; Driver* const driver = in_hand.next(); in_hand.give_back()) f(*driver);
}

std::vector<Loss> take_losses_of_gone_drivers() {
  std::lock_guard const lock(drivers().mutex);
  return std::exchange(drivers().of_gone, {});
}

DriverApi const& Driver::api() const noexcept { return state_->api; }
LaunchLog const& Driver::launches() const noexcept { return state_->log; }

CUresult Driver::open_device(int ordinal) {
  TRACE_SPAN(trace, "open_device", tracing::kv("device", ordinal));
  DriverApi const& api = state_->api;
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (auto const code = told(api.init(0), "cuInit(0)"); code != CUDA_SUCCESS) return code;
  if (auto const code = state_->tell(api.device_get(&device, ordinal), [&] { return fmt::format("cuDeviceGet({})", ordinal); });
      code != CUDA_SUCCESS) {
    return code;
  }
  if (auto const code = state_->tell(api.device_primary_ctx_retain(&context, device),
                                     [&] { return fmt::format("cuDevicePrimaryCtxRetain(device {})", ordinal); });
      code != CUDA_SUCCESS) {
    return code;
  }
  {
    std::lock_guard const lock(state_->mutex);
    state_->context = context;
    state_->device = ordinal;
  }
  if (auto const code = make_current(); code != CUDA_SUCCESS) return code;
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
  std::lock_guard const lock(mutex);
  return context;
}

bool Driver::has_device() const { return state_->opened() != nullptr; }

CUresult Driver::make_current() {
  CUcontext const context = state_->opened();
  return told(context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : state_->api.ctx_set_current(context), "cuCtxSetCurrent()");
}

CUresult Driver::ctx_synchronize() {
  TRACE_SPAN(trace, "ctx_synchronize", tracing::kv("device", state_->device.load()));
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.ctx_synchronize();
  if (result == CUDA_SUCCESS) state_->complete(state_->log.complete_all(before), "cuCtxSynchronize");
  return told(result, "cuCtxSynchronize()");
}

CUresult Driver::check() {
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

}  // namespace tracing::inline v1::cuda
