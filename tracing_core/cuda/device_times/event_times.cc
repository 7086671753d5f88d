#include "tracing_core/cuda/device_times/event_times.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/cuda/device_times/gpu_time.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

using tracing::support::MutexLock;
using Work = EventTimes::Work;

std::atomic<EventTimes*> event_times{nullptr};

std::pair<int, std::uint64_t> stream_of(DeviceCall const& call) noexcept { return {call.device, call.stream}; }

std::int64_t ns_of(float milliseconds) noexcept { return static_cast<std::int64_t>(milliseconds * 1e6); }

// ---- the work that each call asks for, from its arguments ----

Work copy(ActivityKind kind, std::size_t bytes, CUstream stream = nullptr) noexcept {
  return {{.kind = kind, .bytes = bytes}, stream};
}
Work set(std::size_t bytes, CUstream stream = nullptr) noexcept { return copy(ActivityKind::memset, bytes, stream); }

ActivityKind kind_of(CUmemorytype from, CUmemorytype to) noexcept {
  if (to == CU_MEMORYTYPE_HOST) return ActivityKind::memcpy_dtoh;
  return from == CU_MEMORYTYPE_HOST ? ActivityKind::memcpy_htod : ActivityKind::memcpy_dtod;
}
Work copy_2d(CUDA_MEMCPY2D const* c) noexcept {
  return copy(kind_of(c->srcMemoryType, c->dstMemoryType), c->WidthInBytes * c->Height);
}
Work copy_3d(CUDA_MEMCPY3D const* c) noexcept {
  return copy(kind_of(c->srcMemoryType, c->dstMemoryType), c->WidthInBytes * c->Height * c->Depth);
}
Work on(CUstream stream, Work work) noexcept {
  work.stream = stream;
  return work;
}
Work kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream) noexcept {
  return {{.grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes}, stream, function};
}

// Describe<call>::work() makes the Work of a call from its arguments.
template <auto kCall>
struct Describe;
#define TRACING_CUDA_WORK(member, result, ...)                \
  template <>                                                 \
  struct Describe<&DriverApi::member> {                       \
    static Work work(__VA_ARGS__) noexcept { return result; } \
  };
TRACING_CUDA_WORK(memcpy_htod, copy(ActivityKind::memcpy_htod, n), CUdeviceptr, void const*, std::size_t n)
TRACING_CUDA_WORK(memcpy_dtoh, copy(ActivityKind::memcpy_dtoh, n), void*, CUdeviceptr, std::size_t n)
TRACING_CUDA_WORK(memcpy_dtod, copy(ActivityKind::memcpy_dtod, n), CUdeviceptr, CUdeviceptr, std::size_t n)
TRACING_CUDA_WORK(memcpy_htod_async, copy(ActivityKind::memcpy_htod, n, s), CUdeviceptr, void const*, std::size_t n,
                  CUstream s)
TRACING_CUDA_WORK(memcpy_dtoh_async, copy(ActivityKind::memcpy_dtoh, n, s), void*, CUdeviceptr, std::size_t n,
                  CUstream s)
TRACING_CUDA_WORK(memcpy_dtod_async, copy(ActivityKind::memcpy_dtod, n, s), CUdeviceptr, CUdeviceptr, std::size_t n,
                  CUstream s)
TRACING_CUDA_WORK(memcpy_2d, copy_2d(c), CUDA_MEMCPY2D const* c)
TRACING_CUDA_WORK(memcpy_2d_async, on(s, copy_2d(c)), CUDA_MEMCPY2D const* c, CUstream s)
TRACING_CUDA_WORK(memcpy_3d, copy_3d(c), CUDA_MEMCPY3D const* c)
TRACING_CUDA_WORK(memcpy_3d_async, on(s, copy_3d(c)), CUDA_MEMCPY3D const* c, CUstream s)
TRACING_CUDA_WORK(memcpy_peer, copy(ActivityKind::memcpy_dtod, n), CUdeviceptr, CUcontext, CUdeviceptr, CUcontext,
                  std::size_t n)
TRACING_CUDA_WORK(memcpy_peer_async, copy(ActivityKind::memcpy_dtod, n, s), CUdeviceptr, CUcontext, CUdeviceptr,
                  CUcontext, std::size_t n, CUstream s)
TRACING_CUDA_WORK(memset_d8, set(n), CUdeviceptr, unsigned char, std::size_t n)
TRACING_CUDA_WORK(memset_d32, set(4 * n), CUdeviceptr, unsigned, std::size_t n)
TRACING_CUDA_WORK(memset_d8_async, set(n, s), CUdeviceptr, unsigned char, std::size_t n, CUstream s)
TRACING_CUDA_WORK(memset_d32_async, set(4 * n, s), CUdeviceptr, unsigned, std::size_t n, CUstream s)
TRACING_CUDA_WORK(memset_d2d8_async, set(w* h, s), CUdeviceptr, std::size_t, unsigned char, std::size_t w,
                  std::size_t h, CUstream s)
TRACING_CUDA_WORK(memset_d2d16_async, set(2 * w * h, s), CUdeviceptr, std::size_t, unsigned short, std::size_t w,
                  std::size_t h, CUstream s)
TRACING_CUDA_WORK(memset_d2d32_async, set(4 * w * h, s), CUdeviceptr, std::size_t, unsigned, std::size_t w,
                  std::size_t h, CUstream s)
TRACING_CUDA_WORK(launch_kernel, kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s), CUfunction f, unsigned gx,
                  unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void**,
                  void**)
TRACING_CUDA_WORK(launch_cooperative_kernel, kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s), CUfunction f,
                  unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                  CUstream s, void**)
TRACING_CUDA_WORK(launch_kernel_ex,
                  kernel(f, {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ},
                         c->sharedMemBytes, c->hStream),
                  CUlaunchConfig const* c, CUfunction f, void**, void**)
#undef TRACING_CUDA_WORK

}  // namespace

template <class Call>
CUresult EventTimes::measure(Work const& work, Call const& call) {
  EventTimes& times = *event_times;
  std::optional<DeviceCall> made = current_device_call(work.activity.kind);
  if (!made) return call(times.api_);
  std::string_view const kernel = work.function == nullptr ? std::string_view() : kernel_of_call(work.function);
  HiddenDeviceCall const hidden;  // a driver in this process would report the work, too
  std::optional<Measured> measured = times.begin(work);
  CUresult const result = call(times.api_);
  if (!measured || !times.end(*measured, work, result)) return result;
  measured->call = std::move(*made);
  measured->activity.kernel = kernel;
  times.keep(std::move(*measured));
  return result;
}

namespace {

template <auto kCall, class... A>
void replace(DriverApi& table, CUresult (*call)(A...)) noexcept {
  if (call == nullptr) return;
  table.*kCall = [](A... arguments) {
    return EventTimes::measure(Describe<kCall>::work(arguments...),
                               [&](DriverApi const& api) { return (api.*kCall)(arguments...); });
  };
}

template <auto... kCalls>
void replace_all(DriverApi& table) noexcept {
  (replace<kCalls>(table, table.*kCalls), ...);
}

}  // namespace

EventTimes::EventTimes(DriverApi const& api) : api_(api), process_(getpid()) { event_times = this; }
EventTimes::~EventTimes() {
  event_times = nullptr;
  for (Measured const& measured : waiting_) give_back(measured);
  for (auto const& [_, context] : contexts_) {
    for (CUevent const event : context.free_events) api_.event_destroy(event);
    if (context.anchor != nullptr) api_.event_destroy(context.anchor);
    if (context.stream != nullptr) api_.stream_destroy(context.stream);
  }
}

EventTimes* EventTimes::running() noexcept { return event_times; }

bool EventTimes::is_of(DriverApi const& api) const noexcept { return std::memcmp(&api, &api_, sizeof api) == 0; }

DriverApi EventTimes::measuring() const noexcept {
  using Api = DriverApi;
  DriverApi table = api_;
  replace_all<&Api::memcpy_htod, &Api::memcpy_dtoh, &Api::memcpy_dtod, &Api::memcpy_htod_async, &Api::memcpy_dtoh_async,
              &Api::memcpy_dtod_async, &Api::memcpy_2d, &Api::memcpy_2d_async, &Api::memcpy_3d, &Api::memcpy_3d_async,
              &Api::memcpy_peer, &Api::memcpy_peer_async>(table);
  replace_all<&Api::memset_d8, &Api::memset_d32, &Api::memset_d8_async, &Api::memset_d32_async, &Api::memset_d2d8_async,
              &Api::memset_d2d16_async, &Api::memset_d2d32_async>(table);
  replace_all<&Api::launch_kernel, &Api::launch_cooperative_kernel, &Api::launch_kernel_ex>(table);
  return table;
}

// Records the event before the work. Returns nothing if the call cannot be measured: it is captured, or a call of the
// driver fails.
std::optional<EventTimes::Measured> EventTimes::begin(Work const& work) noexcept {
  Measured measured;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (getpid() != process_ || api_.stream_is_capturing(work.stream, &capture) != CUDA_SUCCESS ||
      capture != CU_STREAM_CAPTURE_STATUS_NONE || api_.ctx_get_current(&measured.context) != CUDA_SUCCESS ||
      measured.context == nullptr || !take_events(measured))
    return std::nullopt;
  if (api_.event_record(measured.begin, work.stream) == CUDA_SUCCESS) return measured;
  give_back(measured);
  return std::nullopt;
}

// Records the event after the work. Returns false if the call failed, or cannot be measured.
bool EventTimes::end(Measured& measured, Work const& work, CUresult result) noexcept {
  if (result != CUDA_SUCCESS || api_.event_record(measured.end, work.stream) != CUDA_SUCCESS) {
    give_back(measured);
    return false;
  }
  measured.activity = work.activity;
  if (work.function == nullptr) return true;
  auto const attribute = [&](CUfunction_attribute which) {
    int value = 0;
    bool const is_known =
        api_.func_get_attribute != nullptr && api_.func_get_attribute(&value, which, work.function) == CUDA_SUCCESS;
    return is_known ? std::optional(static_cast<unsigned>(value)) : std::nullopt;
  };
  measured.activity.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  measured.activity.shared_bytes =
      work.activity.dynamic_shared_bytes + attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).value_or(0);
  return true;
}

// Makes the anchor of a context, which is current. Returns false if a call of the driver fails.
bool EventTimes::prepare(Context& context) const noexcept {
  if (context.stream == nullptr && api_.stream_create(&context.stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
    return false;
  return context.anchor != nullptr || api_.event_create(&context.anchor, CU_EVENT_DEFAULT) == CUDA_SUCCESS;
}

// Returns false if there are no events for the call.
bool EventTimes::take_events(Measured& measured) noexcept {
  try {
    MutexLock const lock(mutex_);
    if (waiting_.size() >= kMaxCalls) return false;
    Context& context = contexts_[measured.context];
    if (!prepare(context)) return false;
    std::vector<CUevent>& free = context.free_events;
    for (CUevent* const event : {&measured.begin, &measured.end}) {
      if (free.empty()) {
        if (api_.event_create(event, CU_EVENT_DEFAULT) == CUDA_SUCCESS) continue;
        if (measured.begin != nullptr) free.push_back(measured.begin);
        return false;
      } else {
        *event = free.back();
        free.pop_back();
      }
    }
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

void EventTimes::give_back(Measured const& measured) noexcept {
  MutexLock const lock(mutex_);
  std::vector<CUevent>& free = contexts_.find(measured.context)->second.free_events;
  for (CUevent const event : {measured.begin, measured.end}) {
    try {
      free.push_back(event);
    } catch (std::bad_alloc const&) {
      api_.event_destroy(event);
    }
  }
}

void EventTimes::keep(Measured&& measured) noexcept {
  try {
    MutexLock const lock(mutex_);
    waiting_.push_back(std::move(measured));
  } catch (std::bad_alloc const&) {  // the call has no times
  }
}

void EventTimes::flush(bool all_ended) noexcept {
  if (getpid() != process_) return;
  // Spans of calls are closed, which may call layers, after the locks are released.
  std::deque<Measured> all;
  std::deque<Measured> left;
  try {
    MutexLock const lock(reporting_);
    {
      MutexLock const taking(mutex_);
      all.swap(waiting_);
    }
    Anchors anchors;
    std::set<Stream> busy;
    for (Measured& measured : all) {
      if (!busy.contains(stream_of(measured.call)) && report(measured, anchors)) continue;
      busy.insert(stream_of(measured.call));
      if (all_ended) {
        give_back(measured);
      } else {
        left.push_back(std::move(measured));
      }
    }
    MutexLock const keeping(mutex_);
    for (; !left.empty(); left.pop_back()) waiting_.push_front(std::move(left.back()));
  } catch (std::bad_alloc const&) {  // these times are lost
  }
}

// Returns the anchor of the context, an event after all events that have happened until now. Returns nothing if a call
// of the driver fails.
std::optional<EventTimes::Anchor> EventTimes::anchor(CUcontext context, Anchors& anchors) {
  if (auto const known = anchors.find(context); known != anchors.end()) return known->second;
  MutexLock const lock(mutex_);
  Context const& its = contexts_[context];
  Instant before, after;
  for (int round = 0; round < 2; ++round) {  // the first round wakes the device
    before = Instant::now();
    if (api_.event_record(its.anchor, its.stream) != CUDA_SUCCESS || api_.event_synchronize(its.anchor) != CUDA_SUCCESS)
      return std::nullopt;
    after = Instant::now();
  }
  return anchors[context] = {its.anchor, {before.ns + (after.ns - before.ns) / 2}};
}

// Returns false if the work has not ended.
bool EventTimes::report(Measured const& measured, Anchors& anchors) {
  CUresult const ended = api_.event_query(measured.end);
  if (ended == CUDA_ERROR_NOT_READY) return false;
  auto const after = ended == CUDA_SUCCESS ? anchor(measured.context, anchors) : std::nullopt;
  float lasted = 0, ago = 0;
  if (after && api_.event_elapsed_time(&lasted, measured.begin, measured.end) == CUDA_SUCCESS &&
      api_.event_elapsed_time(&ago, measured.begin, after->event) == CUDA_SUCCESS) {
    DeviceActivity activity = measured.activity;
    Instant const begin{after->time.ns - ns_of(ago)};
    Instant& last_end = last_ends_[stream_of(measured.call)];
    // The event before the work may have happened before the end of another thread's work on the stream.
    activity.begin = std::max(begin, last_end);
    activity.end = last_end = std::max(Instant{begin.ns + ns_of(lasted)}, activity.begin);
    report_activity(measured.call, activity);
    if (activity.kind == ActivityKind::kernel) record_gpu_time(measured.call.span, activity.begin, activity.end);
  }
  give_back(measured);
  return true;
}

}}}}  // namespace tracing::v1::cuda::internal
