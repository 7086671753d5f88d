#include "tracing_core/cuda/device_times/device_times.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/cuda/device_times/gpu_time.h"
#include "tracing_core/cuda/driver/kernel_name.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

using tracing::support::MutexLock;

// Enough for 300 kernels. CUPTI returns a buffer at each flush, however little is in it.
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kMaxFreeBuffers = 16;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

// The records of CUPTI 12.0. Later versions only append members.
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using SetRecord = CUpti_ActivityMemset4;

std::atomic<DeviceTimes*> client{nullptr};

Instant instant(std::uint64_t ns) noexcept { return {static_cast<std::int64_t>(ns)}; }

unsigned positive(std::int32_t value) noexcept { return static_cast<unsigned>(std::max(value, 0)); }

ActivityKind kind_of_copy(std::uint8_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return ActivityKind::memcpy_htod;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return ActivityKind::memcpy_dtoh;
    default: return ActivityKind::memcpy_dtod;
  }
}

}  // namespace

// A record of CUPTI, and the name of its kernel for as long as it is needed.
struct DeviceTimes::Timed {
  std::uint32_t call = 0;
  int device = 0;
  std::uint64_t stream = 0;
  std::string kernel;
  DeviceActivity activity;
};

DeviceTimes::DeviceTimes(CuptiApi const& api) : api_(api), process_(getpid()) {}

DeviceTimes::~DeviceTimes() {
  if (subscriber_ == nullptr) return;
  for (CUpti_ActivityKind const kind : kKinds) api_.activity_disable(kind);
  api_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  api_.unsubscribe(subscriber_);
  client = nullptr;
}

std::string DeviceTimes::failed(char const* call, CUptiResult result) const {
  char const* text = nullptr;
  if (api_.get_result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "an unknown error";
  std::string explanation = std::string("No device times: ") + call + " returned " + text + " (" +
                            std::to_string(static_cast<int>(result)) + ").";
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    explanation += " CUPTI serves one client: run the program without a profiler or debugger of CUDA.";
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    explanation += " The driver allows profiling to administrators only; see NVIDIA's ERR_NVGPUCTRPERM.";
  if (result == CUPTI_ERROR_UNKNOWN) explanation += " CUPTI says so if there is no driver, or a driver too old for it.";
  return explanation;
}

std::string DeviceTimes::start() {
  client = this;
  if (CUptiResult const result = api_.subscribe(&subscriber_, &DeviceTimes::on_call, this); result != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    client = nullptr;
    return failed("cuptiSubscribe", result);
  }
  if (!enable_callbacks()) return "No device times: CUPTI does not report the calls of the driver.";
  CUptiResult const result = api_.activity_register_callbacks(on_buffer_requested, on_buffer_completed);
  if (result != CUPTI_SUCCESS) return failed("cuptiActivityRegisterCallbacks", result);
  for (CUpti_ActivityKind const kind : kKinds)
    if (CUptiResult const enabled = api_.activity_enable(kind); enabled != CUPTI_SUCCESS)
      return failed("cuptiActivityEnable", enabled);
  return {};
}

DeviceTimes::Work DeviceTimes::work_of(std::string_view call) noexcept {
  if (call.starts_with("cuLaunchKernel") || call.starts_with("cuLaunchCooperativeKernel")) return Work::kernel;
  if (call.starts_with("cuMemcpy")) return Work::copy;
  if (call.starts_with("cuMemset")) return Work::set;
  if (call.starts_with("cuGraphLaunch")) return Work::graph;
  return Work::other;
}

// Asks for the calls by their names, because their numbers have gaps and grow with each version.
bool DeviceTimes::enable_callbacks() {
  bool any = false;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    char const* name = nullptr;
    work_of_call_.resize(id + std::size_t{1});
    if (api_.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    Work const work = work_of(name);
    if (work == Work::other) continue;
    if (api_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id) != CUPTI_SUCCESS) continue;
    work_of_call_[id] = work;
    any = true;
  }
  return any;
}

void CUPTIAPI DeviceTimes::on_call(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
  auto& times = *static_cast<DeviceTimes*>(self);
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= times.work_of_call_.size()) return;
  auto const& call = *static_cast<CUpti_CallbackData const*>(data);
  try {
    if (call.callbackSite == CUPTI_API_ENTER) return times.begin_call(times.work_of_call_[id], call);
    auto const* const result = static_cast<CUresult const*>(call.functionReturnValue);
    if (result != nullptr && *result != CUDA_SUCCESS) times.calls_.remove(call.correlationId);
  } catch (std::bad_alloc const&) {  // the work appears without its call
  }
}

void DeviceTimes::begin_call(Work work, CUpti_CallbackData const& call) {
  ActivityKind const kind = work == Work::copy  ? ActivityKind::memcpy_dtod
                            : work == Work::set ? ActivityKind::memset
                                                : ActivityKind::kernel;
  std::optional<DeviceCall> made = current_device_call(kind);
  if (!made) made = call_without_driver(kind);
  if (made) calls_.add(call.correlationId, std::move(*made), work == Work::graph);
}

std::uint8_t* DeviceTimes::take_buffer() {
  MutexLock const lock(mutex_);
  if (free_buffers_.empty()) return new (std::nothrow) std::uint8_t[kBufferBytes];
  std::uint8_t* const buffer = free_buffers_.back().release();
  free_buffers_.pop_back();
  return buffer;
}

void DeviceTimes::give_back(std::uint8_t* buffer) noexcept {
  std::unique_ptr<std::uint8_t[]> owner(buffer);
  MutexLock const lock(mutex_);
  if (free_buffers_.size() < kMaxFreeBuffers) free_buffers_.push_back(std::move(owner));
}

void CUPTIAPI DeviceTimes::on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  DeviceTimes* const times = client;
  *max_records = 0;  // as many as there is room for
  *buffer = times == nullptr ? nullptr : times->take_buffer();
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
}

void CUPTIAPI DeviceTimes::on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                               std::size_t valid_bytes) {
  DeviceTimes* const times = client;
  if (times == nullptr || buffer == nullptr) return;
  try {
    times->read(buffer, valid_bytes);
  } catch (std::bad_alloc const&) {  // these times are lost
  }
  times->give_back(buffer);
}

void DeviceTimes::read(std::uint8_t* buffer, std::size_t valid_bytes) {
  std::vector<Timed> all;
  CUpti_Activity* record = nullptr;
  while (api_.activity_get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    auto const common = [](auto const& its) {
      Timed timed{its.correlationId, static_cast<int>(its.deviceId), its.streamId, {}, {}};
      timed.activity.begin = instant(its.start);
      timed.activity.end = instant(its.end);
      return timed;
    };
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      auto const& its = *reinterpret_cast<KernelRecord const*>(record);
      Timed timed = common(its);
      timed.kernel = its.name == nullptr ? "" : kernel_name(its.name);
      timed.activity.grid = {positive(its.gridX), positive(its.gridY), positive(its.gridZ)};
      timed.activity.block = {positive(its.blockX), positive(its.blockY), positive(its.blockZ)};
      timed.activity.shared_bytes = positive(its.staticSharedMemory) + positive(its.dynamicSharedMemory);
      timed.activity.dynamic_shared_bytes = positive(its.dynamicSharedMemory);
      timed.activity.registers = its.registersPerThread;
      all.push_back(std::move(timed));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      auto const& its = *reinterpret_cast<CopyRecord const*>(record);
      Timed timed = common(its);
      timed.activity.kind = kind_of_copy(its.copyKind);
      timed.activity.bytes = its.bytes;
      all.push_back(std::move(timed));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      auto const& its = *reinterpret_cast<SetRecord const*>(record);
      Timed timed = common(its);
      timed.activity.kind = ActivityKind::memset;
      timed.activity.bytes = its.bytes;
      all.push_back(std::move(timed));
    }
  }
  // Records of a buffer are in no order.
  std::ranges::stable_sort(all, {}, [](Timed const& timed) { return timed.activity.begin; });
  MutexLock const lock(reading_);
  for (Timed const& timed : all) report(timed);
}

void DeviceTimes::report(Timed const& timed) {
  DeviceActivity activity = timed.activity;
  activity.kernel = timed.kernel;
  std::optional<CallsInFlight::Found> const found = calls_.find(timed.call);
  DeviceCall call = found ? found->call : DeviceCall{.device = kUnknownDevice};
  if (call.device == kUnknownDevice) {
    call.device = timed.device;
    call.stream = timed.stream;
  }
  report_activity(call, activity);
  if (activity.kind == ActivityKind::kernel && activity.begin && activity.end && found && !found->is_graph)
    record_gpu_time(call.span, activity.begin, activity.end);
}

void DeviceTimes::flush(bool all_ended) noexcept {
  // CUPTI hangs in a child that fork() made.
  if (getpid() != process_ || (!all_ended && calls_.is_empty())) return;
  std::uint64_t const before = calls_.mark();
  api_.activity_flush_all(0);
  if (all_ended) calls_.remove_before(before);
}

}}}}  // namespace tracing::v1::cuda::internal
