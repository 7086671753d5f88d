// Implements the calls about streams and events.
#include "cuda_cpu/cpu/device.h"
#include "tracing_core/emit/span.h"
#include "tracing_core/support/monotonic_clock.h"

namespace cuda_cpu::cpu {
namespace {

std::shared_ptr<Recording> latest_of(Event& event) {
  MutexLock const lock(event.mutex);
  return event.recording;
}

// In its scope this thread runs a function of the user, which must not call the driver.
class HostFunctionScope {
 public:
  HostFunctionScope() noexcept { this_thread().runs_host_function = true; }
  HostFunctionScope(HostFunctionScope const&) = delete;
  HostFunctionScope& operator=(HostFunctionScope const&) = delete;
  ~HostFunctionScope() { this_thread().runs_host_function = false; }
};

}  // namespace

CUresult stream_create(CUstream* out, unsigned flags) {
  return in_context([&](Device& device) {
    if (out == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    auto const stream = device.streams.create(flags == CU_STREAM_DEFAULT);
    *out = reinterpret_cast<CUstream>(device.stream_handles.add(stream));
    return CUDA_SUCCESS;
  });
}

CUresult stream_destroy(CUstream handle) {
  return in_context([&](Device& device) {
    auto const stream = device.stream_handles.take(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    device.streams.close(stream);
    return CUDA_SUCCESS;
  });
}

CUresult stream_synchronize(CUstream handle) {
  return on_stream(handle, [](Device& device, auto& stream) { return device.wait(device.streams.end_of(stream)); });
}

CUresult stream_query(CUstream handle) {
  return on_stream(handle, [](Device& device, auto& stream) {
    return device.streams.are_done(device.streams.end_of(stream)) ? device.sticky() : CUDA_ERROR_NOT_READY;
  });
}

CUresult stream_wait_event(CUstream handle, CUevent event_handle, unsigned flags) {
  return on_stream(handle, [&](Device& device, auto& stream) {
    if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    auto const event = device.events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (auto const recording = latest_of(*event)) device.streams.wait_for(stream, recording->mark);
    return CUDA_SUCCESS;
  });
}

CUresult stream_is_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  return on_stream(handle, [&](Device&, auto&) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;  // this table of calls has no graphs
    return CUDA_SUCCESS;
  });
}

CUresult stream_get_id(CUstream handle, unsigned long long* id) {
  return on_stream(handle, [&](Device&, auto& stream) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id;
    return CUDA_SUCCESS;
  });
}

bool is_blocking_stream(CUstream handle) {
  bool is_blocking = true;
  on_stream(handle, [&](Device&, auto& stream) {
    is_blocking = stream->is_blocking;
    return CUDA_SUCCESS;
  });
  return is_blocking;
}

CUresult launch_host_func(CUstream handle, CUhostFn function, void* data) {
  return on_stream(handle, [&](Device& device, auto& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    device.submit_host_function(stream, [function, data, span = tracing::Span::current()] {
      auto const entered = span.enter();
      HostFunctionScope const scope;
      function(data);
    });
    return CUDA_SUCCESS;
  });
}

CUresult event_create(CUevent* out, unsigned flags) {
  return in_context([&](Device& device) {
    constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if ((flags & CU_EVENT_INTERPROCESS) != 0)
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "not supported: interprocess events");
    if (out == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->has_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    *out = reinterpret_cast<CUevent>(device.events.add(std::move(event)));
    return CUDA_SUCCESS;
  });
}

CUresult event_destroy(CUevent handle) {
  return in_context(
      [&](Device& device) { return device.events.take(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS; });
}

CUresult event_record(CUevent handle, CUstream stream_handle) {
  return on_stream(stream_handle, [&](Device& device, auto& stream) {
    auto const event = device.events.find(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const recording = std::make_shared<Recording>();
    recording->mark = device.streams.submit_short(
        stream, [recording] { recording->time_ns = static_cast<std::int64_t>(tracing::support::monotonic_ns()); });
    MutexLock const lock(event->mutex);
    event->recording = recording;
    return CUDA_SUCCESS;
  });
}

CUresult event_query(CUevent handle) {
  return in_context([&](Device& device) {
    auto const event = device.events.find(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const recording = latest_of(*event);
    if (recording != nullptr && !device.streams.are_done({recording->mark})) return CUDA_ERROR_NOT_READY;
    return device.sticky();
  });
}

CUresult event_synchronize(CUevent handle) {
  return in_context([&](Device& device) {
    auto const event = device.events.find(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const recording = latest_of(*event);
    return recording == nullptr ? CUDA_SUCCESS : device.wait({recording->mark});
  });
}

CUresult event_elapsed_time(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return in_context([&](Device& device) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto const start = device.events.find(start_handle);
    auto const end = device.events.find(end_handle);
    if (start == nullptr || end == nullptr || !start->has_time || !end->has_time) return CUDA_ERROR_INVALID_HANDLE;
    auto const from = latest_of(*start);
    auto const to = latest_of(*end);
    if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!device.streams.are_done({from->mark, to->mark})) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(static_cast<double>(to->time_ns - from->time_ns) / 1e6);
    return CUDA_SUCCESS;
  });
}

}  // namespace cuda_cpu::cpu
