#include "tracing_core/cuda/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/cuda/driver/driver_state.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

constexpr std::array<std::string_view, 5> kNames{"kernel", "memcpy_htod", "memcpy_dtoh", "memcpy_dtod", "memset"};

thread_local constinit internal::DeviceCallScope const* this_threads_call = nullptr;

Callsite& callsite_of(ActivityKind kind) {
  static auto const& callsites = *new std::vector<RuntimeCallsite>([] {  // never destroyed: drivers run until the end
    std::vector<RuntimeCallsite> made;
    for (std::string_view const name : kNames) {
      CallsiteDescription description{
          .kind = Kind::span, .name = name, .target = "tracing::cuda::device", .level = Level::trace};
      if (made.empty())
        description.fields = {"kernel.name", "grid",   "block",  "shared_bytes", "dynamic_shared_bytes",
                              "registers",   "stream", "device", "launch"};
      else
        description.fields = {"bytes", "stream", "device"};
      made.emplace_back(description);
    }
    return made;
  }());
  return callsites[static_cast<std::size_t>(kind)].callsite();
}

// Returns whether an activity of a call of this thread would be recorded.
bool is_recorded(ActivityKind kind) noexcept {
  try {
    if (callsite_of(kind).enabled() == 0) return false;
  } catch (...) {  // std::bad_alloc
    return false;
  }
  // A registry is kept while it has open spans; another subscriber may be gone when the work is done.
  Subscriber* const to = current_subscriber();
  return to != nullptr && to->as_registry() != nullptr;
}

// The track of a stream. Several threads may report for a stream, but one at a time.
struct StreamTrack {
  std::string name;
  Track track;
  Mutex mutex;
};

// Returns the track of a stream. All drivers of the process use these tracks, so that the drivers of one device share
// its rows.
StreamTrack& track_of(int device, std::uint64_t stream) {
  // Registries keep tracks forever, so their number is limited: further streams share a track.
  constexpr std::uint64_t kMaxStreams = 1024;
  constexpr std::uint64_t kFirstNumber = 1 << 28;  // threads have smaller numbers
  struct Tracks {
    Mutex mutex;
    std::map<std::pair<int, std::uint64_t>, std::unique_ptr<StreamTrack>> by_stream TRACING_GUARDED_BY(mutex);
  };
  static auto& tracks = *new Tracks;
  stream = std::min(stream, kMaxStreams);
  MutexLock const lock(tracks.mutex);
  std::unique_ptr<StreamTrack>& found = tracks.by_stream[{device, stream}];
  if (found == nullptr) {
    auto made = std::make_unique<StreamTrack>();
    made->name = fmt::format("GPU {} stream {}{}", device, stream, stream == kMaxStreams ? "+" : "");
    made->track = {kFirstNumber + tracks.by_stream.size(), made->name};
    found = std::move(made);
  }
  return *found;
}

}  // namespace

namespace internal {

DeviceCallScope::DeviceCallScope(LaunchLog& its_log, CUstream its_stream, int its_device, LaunchId its_launch,
                                 bool its_runs) noexcept
    : log(its_log),
      stream(its_stream),
      device(its_device),
      launch(its_launch),
      runs(its_runs),
      is_outermost_(this_threads_call == nullptr) {
  if (is_outermost_) this_threads_call = this;
}
DeviceCallScope::~DeviceCallScope() {
  if (is_outermost_) this_threads_call = nullptr;
}

HiddenDeviceCall::HiddenDeviceCall() noexcept : hidden_(std::exchange(this_threads_call, nullptr)) {}
HiddenDeviceCall::~HiddenDeviceCall() { this_threads_call = hidden_; }

std::string_view kernel_of_call(CUfunction function) { return this_threads_call->log.name_of(function); }

std::optional<DeviceCall> call_without_driver(ActivityKind kind) noexcept {
  if (this_threads_call != nullptr || !is_recorded(kind)) return std::nullopt;
  return DeviceCall{Span::current(), current_launch(), kUnknownDevice, 0};
}

}  // namespace internal

std::optional<DeviceCall> current_device_call(ActivityKind kind) noexcept {
  internal::DeviceCallScope const* const call = this_threads_call;
  if (call == nullptr || !call->runs || !is_recorded(kind)) return std::nullopt;
  try {
    return DeviceCall{Span::current(), call->launch, call->device, call->log.number_of(call->stream)};
  } catch (...) {  // std::bad_alloc
    return std::nullopt;
  }
}

void report_activity(DeviceCall const& call, DeviceActivity const& activity) noexcept {
  if (!activity.begin || !activity.end) return;
  try {
    Callsite& callsite = callsite_of(activity.kind);
    StreamTrack& on = track_of(call.device, call.stream);
    Value const stream = Value::of_u64(call.stream);
    Value const device = Value::of_i64(call.device);
    auto const emit = [&](auto const&... values) {
      Value const all[] = {values...};
      MutexLock const lock(on.mutex);
      emit_past_span(callsite, all, {on.track, activity.begin, std::max(activity.begin, activity.end)}, call.span);
    };
    if (activity.kind != ActivityKind::kernel) return emit(Value::of_u64(activity.bytes), stream, device);
    using tracing::internal::value_of;
    internal::DimText grid, block;
    emit(Value::of_verbatim(activity.kernel), Value::of_verbatim(grid.of(activity.grid)),
         Value::of_verbatim(block.of(activity.block)), Value::of_u64(activity.shared_bytes),
         activity.dynamic_shared_bytes == 0 ? Value() : Value::of_u64(activity.dynamic_shared_bytes),
         value_of(activity.registers), stream, device, call.launch == 0 ? Value() : Value::of_u64(call.launch));
  } catch (...) {  // std::bad_alloc
  }
}

}}}  // namespace tracing::v1::cuda
