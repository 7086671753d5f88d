// The methods of Driver for memory and copies.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::memory"
#include <optional>

#include "tracing_core/cuda/driver/driver_state.h"
#include "tracing_core/cuda/stopwatch.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

// The functions below emit events before they call the span's record(), so that a line does not show a result twice.

// Makes a synchronous copy and reports its duration and bandwidth. The duration includes waiting for earlier work on
// the default stream.
template <class Copy>
CUresult timed(Span const& span, std::size_t bytes, Copy copy) {
  if (!span) return copy();
  internal::Stopwatch const watch;
  CUresult const result = copy();
  auto const ns = static_cast<double>(watch.ns());
  if (result == CUDA_SUCCESS) {
    double const duration_us = ns / 1e3;
    double const gb_per_s = ns > 0 ? internal::rounded(static_cast<double>(bytes) / ns) : 0.0;
    TRACE_TRACE("copied", duration_us, gb_per_s);
    span.record(tracing::kv("duration_us", duration_us), tracing::kv("gb_per_s", gb_per_s));
  }
  return result;
}

// Emits the event in the span of an asynchronous copy that succeeded.
template <class State>
void report_enqueued(State const& state, Span const& span, CUresult result, CUstream stream) {
  if (result != CUDA_SUCCESS || span.is_none()) return;
  if (state.capture_of(stream) != nullptr)
    TRACE_TRACE("captured");
  else
    TRACE_TRACE("enqueued");
}

void report_allocated(Span const& span, CUresult result, void const* pointer) {
  if (result != CUDA_SUCCESS) return;
  TRACE_TRACE("allocated", pointer);
  span.record(tracing::kv("pointer", pointer));
}

// Returns the size of an allocation that is about to be freed, if it will be shown and the driver knows it.
std::optional<std::size_t> size_to_show(DriverApi const& api, CUdeviceptr pointer) {
  if (!TRACE_ENABLED(trace) || pointer == 0 || api.mem_get_address_range == nullptr) return std::nullopt;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  if (api.mem_get_address_range(&begin, &bytes, pointer) != CUDA_SUCCESS) return std::nullopt;
  return bytes;
}

void report_freed(CUresult result, std::optional<std::size_t> bytes = std::nullopt) {
  if (result == CUDA_SUCCESS) TRACE_TRACE("freed", bytes);
}

void const* address(CUdeviceptr pointer) noexcept { return reinterpret_cast<void const*>(pointer); }

}  // namespace

CUresult Driver::mem_alloc(CUdeviceptr* pointer, std::size_t bytes, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "mem_alloc", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_alloc(pointer, bytes);
  report_allocated(span, result, result == CUDA_SUCCESS ? address(*pointer) : nullptr);
  return state_->check(result, "cuMemAlloc({} bytes)", bytes);
}

CUresult Driver::mem_free(CUdeviceptr pointer, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_free", tracing::kv("pointer", address(pointer)));
  auto const bytes = size_to_show(state_->api, pointer);
  CUresult const result = state_->api.mem_free(pointer);
  report_freed(result, bytes);
  return state_->check(result, "cuMemFree({})", address(pointer));
}

CUresult Driver::mem_alloc_async(CUdeviceptr* pointer, std::size_t bytes, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "mem_alloc_async", bytes, tracing::kv("device", state_->device.load()),
                      tracing::kv("stream", state_->log.number_of(stream)),
                      tracing::kv("capture", state_->capture_of(stream)), tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_alloc_async(pointer, bytes, stream);
  if (result == CUDA_SUCCESS && !span.is_none() && state_->capture_of(stream) != nullptr) {
    TRACE_TRACE("captured", tracing::kv("pointer", address(*pointer)));
  } else {
    report_allocated(span, result, result == CUDA_SUCCESS ? address(*pointer) : nullptr);
  }
  return state_->check(result, "cuMemAllocAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::mem_pool_create(CUmemoryPool* pool, CUmemPoolProps const& properties, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "mem_pool_create", tracing::kv("max_bytes", properties.maxSize),
                                    tracing::kv("pool", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = State::if_there(state_->api.mem_pool_create, pool, &properties);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("pool", static_cast<void const*>(*pool)));
  return check(result, "cuMemPoolCreate()");
}

CUresult Driver::mem_pool_destroy(CUmemoryPool pool, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_pool_destroy", tracing::kv("pool", static_cast<void const*>(pool)));
  return check(State::if_there(state_->api.mem_pool_destroy, pool), "cuMemPoolDestroy()");
}

CUresult Driver::mem_alloc_from_pool_async(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream,
                                           Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(
      trace, "mem_alloc_async", bytes, tracing::kv("device", state_->device.load()),
      tracing::kv("stream", state_->log.number_of(stream)), tracing::kv("capture", state_->capture_of(stream)),
      tracing::kv("pool", static_cast<void const*>(pool)), tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = State::if_there(state_->api.mem_alloc_from_pool_async, pointer, bytes, pool, stream);
  if (result == CUDA_SUCCESS && !span.is_none() && state_->capture_of(stream) != nullptr) {
    TRACE_TRACE("captured", tracing::kv("pointer", address(*pointer)));
  } else {
    report_allocated(span, result, result == CUDA_SUCCESS ? address(*pointer) : nullptr);
  }
  return state_->check(result, "cuMemAllocFromPoolAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::mem_free_async(CUdeviceptr pointer, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_free_async", tracing::kv("pointer", address(pointer)),
             tracing::kv("device", state_->device.load()), tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("capture", state_->capture_of(stream)));
  auto const bytes = size_to_show(state_->api, pointer);
  CUresult const result = state_->api.mem_free_async(pointer, stream);
  if (result == CUDA_SUCCESS && TRACE_ENABLED(trace) && state_->capture_of(stream) != nullptr)
    TRACE_TRACE("captured");
  else
    report_freed(result, bytes);
  return state_->check(result, "cuMemFreeAsync({}, {})", address(pointer), stream);
}

CUresult Driver::mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "mem_host_alloc", bytes, flags, tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_host_alloc(pointer, bytes, flags);
  report_allocated(span, result, result == CUDA_SUCCESS ? *pointer : nullptr);
  return state_->check(result, "cuMemHostAlloc({} bytes, flags {})", bytes, flags);
}

CUresult Driver::mem_free_host(void* pointer, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_free_host", tracing::kv("pointer", static_cast<void const*>(pointer)));
  CUresult const result = state_->api.mem_free_host(pointer);
  report_freed(result);
  return check(result, "cuMemFreeHost()");
}

CUresult Driver::mem_host_register(void* pointer, std::size_t bytes, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_host_register", tracing::kv("pointer", static_cast<void const*>(pointer)), bytes, flags);
  return state_->check(state_->api.mem_host_register(pointer, bytes, flags), "cuMemHostRegister({} bytes, flags {})",
                       bytes, flags);
}

CUresult Driver::mem_host_unregister(void* pointer, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "mem_host_unregister", tracing::kv("pointer", static_cast<void const*>(pointer)));
  return check(state_->api.mem_host_unregister(pointer), "cuMemHostUnregister()");
}

CUresult Driver::mem_alloc_managed(CUdeviceptr* pointer, std::size_t bytes, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "mem_alloc_managed", bytes, flags, tracing::kv("device", state_->device.load()),
                      tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_alloc_managed(pointer, bytes, flags);
  report_allocated(span, result, result == CUDA_SUCCESS ? address(*pointer) : nullptr);
  return state_->check(result, "cuMemAllocManaged({} bytes, flags {})", bytes, flags);
}

CUresult Driver::memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_htod", bytes, tracing::kv("device", state_->device.load()),
                      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  auto const calling = state_->calling(nullptr);
  CUresult const result = timed(span, bytes, [&] { return state_->api.memcpy_htod(to, from, bytes); });
  return state_->check(result, "cuMemcpyHtoD({} bytes)", bytes);
}

CUresult Driver::memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_dtoh", bytes, tracing::kv("device", state_->device.load()),
                      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  auto const calling = state_->calling(nullptr);
  CUresult const result = timed(span, bytes, [&] { return state_->api.memcpy_dtoh(to, from, bytes); });
  // The copy waited for everything that the default stream waits for.
  if (result == CUDA_SUCCESS && bytes > 0)
    state_->report_completed(state_->log.complete_stream(nullptr, before, state_->reported()), "cuMemcpyDtoH");
  return state_->check(result, "cuMemcpyDtoH({} bytes)", bytes);
}

// The call returns before the copy is done, so it is not timed.
CUresult Driver::memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memcpy_dtod", bytes, tracing::kv("device", state_->device.load()));
  auto const calling = state_->calling(nullptr);
  CUresult const result = state_->api.memcpy_dtod(to, from, bytes);
  if (result == CUDA_SUCCESS) TRACE_TRACE("enqueued");
  return state_->check(result, "cuMemcpyDtoD({} bytes)", bytes);
}

CUresult Driver::memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream,
                                   Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "memcpy_htod_async", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result = state_->api.memcpy_htod_async(to, from, bytes, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpyHtoDAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "memcpy_dtoh_async", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result = state_->api.memcpy_dtoh_async(to, from, bytes, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpyDtoHAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream,
                                   Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "memcpy_dtod_async", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result = state_->api.memcpy_dtod_async(to, from, bytes, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpyDtoDAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::memcpy_2d(CUDA_MEMCPY2D const& copy, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::size_t const row_bytes = copy.WidthInBytes;
  Span const span = TRACE_MAKE_SPAN(
      trace, "memcpy_2d", row_bytes, tracing::kv("rows", copy.Height), tracing::kv("device", state_->device.load()),
      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  auto const calling = state_->calling(nullptr);
  std::size_t const bytes = row_bytes * copy.Height;
  CUresult const result = timed(span, bytes, [&] { return State::if_there(state_->api.memcpy_2d, &copy); });
  if (result == CUDA_SUCCESS && bytes > 0 && copy.dstMemoryType == CU_MEMORYTYPE_HOST)
    state_->report_completed(state_->log.complete_stream(nullptr, before, state_->reported()), "cuMemcpy2D");
  return state_->check(result, "cuMemcpy2D({} bytes x {})", row_bytes, copy.Height);
}

CUresult Driver::memcpy_2d_async(CUDA_MEMCPY2D const& copy, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "memcpy_2d_async", tracing::kv("row_bytes", copy.WidthInBytes),
                                    tracing::kv("rows", copy.Height), tracing::kv("device", state_->device.load()),
                                    tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result = State::if_there(state_->api.memcpy_2d_async, &copy, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpy2DAsync({} bytes x {}, {})", copy.WidthInBytes, copy.Height, stream);
}

// It returns before the copy is done, so it is not timed.
CUresult Driver::memcpy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                             std::size_t bytes, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memcpy_peer", bytes);
  auto const calling = state_->calling(nullptr);
  CUresult const result = State::if_there(state_->api.memcpy_peer, to, to_context, from, from_context, bytes);
  if (result == CUDA_SUCCESS) TRACE_TRACE("enqueued");
  return state_->check(result, "cuMemcpyPeer({} bytes)", bytes);
}

CUresult Driver::memcpy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                   std::size_t bytes, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_peer_async", bytes, tracing::kv("stream", state_->log.number_of(stream)),
                      tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result =
      State::if_there(state_->api.memcpy_peer_async, to, to_context, from, from_context, bytes, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpyPeerAsync({} bytes, {})", bytes, stream);
}

CUresult Driver::memcpy_3d(CUDA_MEMCPY3D const& copy, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::size_t const row_bytes = copy.WidthInBytes;
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_3d", row_bytes, tracing::kv("rows", copy.Height),
                      tracing::kv("slices", copy.Depth), tracing::kv("device", state_->device.load()),
                      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  auto const calling = state_->calling(nullptr);
  std::size_t const bytes = row_bytes * copy.Height * copy.Depth;
  CUresult const result = timed(span, bytes, [&] { return state_->api.memcpy_3d(&copy); });
  if (result == CUDA_SUCCESS && bytes > 0 && copy.dstMemoryType == CU_MEMORYTYPE_HOST)
    state_->report_completed(state_->log.complete_stream(nullptr, before, state_->reported()), "cuMemcpy3D");
  return state_->check(result, "cuMemcpy3D({} bytes x {} x {})", row_bytes, copy.Height, copy.Depth);
}

CUresult Driver::memcpy_3d_async(CUDA_MEMCPY3D const& copy, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(
      trace, "memcpy_3d_async", tracing::kv("row_bytes", copy.WidthInBytes), tracing::kv("rows", copy.Height),
      tracing::kv("slices", copy.Depth), tracing::kv("device", state_->device.load()),
      tracing::kv("stream", state_->log.number_of(stream)), tracing::kv("capture", state_->capture_of(stream)));
  auto const entered = span.enter();
  auto const calling = state_->calling(stream);
  CUresult const result = state_->api.memcpy_3d_async(&copy, stream);
  report_enqueued(*state_, span, result, stream);
  return state_->check(result, "cuMemcpy3DAsync({} bytes x {} x {}, {})", copy.WidthInBytes, copy.Height, copy.Depth,
                       stream);
}

CUresult Driver::memset_d8(CUdeviceptr to, unsigned char value, std::size_t count, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d8", value, count, tracing::kv("device", state_->device.load()));
  auto const calling = state_->calling(nullptr);
  return state_->check(state_->api.memset_d8(to, value, count), "cuMemsetD8({} elements)", count);
}

CUresult Driver::memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream,
                                 Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d8_async", value, count, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)), tracing::kv("capture", state_->capture_of(stream)));
  auto const calling = state_->calling(stream);
  return state_->check(state_->api.memset_d8_async(to, value, count, stream), "cuMemsetD8Async({} elements, {})", count,
                       stream);
}

CUresult Driver::memset_d32(CUdeviceptr to, unsigned value, std::size_t count, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d32", value, count, tracing::kv("device", state_->device.load()));
  auto const calling = state_->calling(nullptr);
  return state_->check(state_->api.memset_d32(to, value, count), "cuMemsetD32({} elements)", count);
}

CUresult Driver::memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d32_async", value, count, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)), tracing::kv("capture", state_->capture_of(stream)));
  auto const calling = state_->calling(stream);
  return state_->check(state_->api.memset_d32_async(to, value, count, stream), "cuMemsetD32Async({} elements, {})",
                       count, stream);
}

CUresult Driver::memset_d2d8_async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t columns,
                                   std::size_t rows, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d2d8_async", value, tracing::kv("row_bytes", columns), rows,
             tracing::kv("device", state_->device.load()), tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("capture", state_->capture_of(stream)));
  auto const calling = state_->calling(stream);
  return state_->check(state_->api.memset_d2d8_async(to, pitch, value, columns, rows, stream),
                       "cuMemsetD2D8Async({} x {} elements, {})", columns, rows, stream);
}

CUresult Driver::memset_d2d16_async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t columns,
                                    std::size_t rows, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d2d16_async", value, tracing::kv("row_bytes", 2 * columns), rows,
             tracing::kv("device", state_->device.load()), tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("capture", state_->capture_of(stream)));
  auto const calling = state_->calling(stream);
  return state_->check(state_->api.memset_d2d16_async(to, pitch, value, columns, rows, stream),
                       "cuMemsetD2D16Async({} x {} elements, {})", columns, rows, stream);
}

CUresult Driver::memset_d2d32_async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t columns,
                                    std::size_t rows, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "memset_d2d32_async", value, tracing::kv("row_bytes", 4 * columns), rows,
             tracing::kv("device", state_->device.load()), tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("capture", state_->capture_of(stream)));
  auto const calling = state_->calling(stream);
  return state_->check(state_->api.memset_d2d32_async(to, pitch, value, columns, rows, stream),
                       "cuMemsetD2D32Async({} x {} elements, {})", columns, rows, stream);
}

}}}  // namespace tracing::v1::cuda
