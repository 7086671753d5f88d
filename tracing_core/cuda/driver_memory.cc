// The methods of Driver for memory and copies.
#include <string>

#include "tracing_core/cuda/driver_state.h"

namespace tracing::inline v1::cuda {
namespace {

// Records the duration and bandwidth of a synchronous copy in its span; that includes waiting for earlier work on the
// default stream.
class Stopwatch {
 public:
  explicit Stopwatch(Span const& span, std::size_t bytes) noexcept : span_(span), bytes_(bytes) {
    if (span_) start_ = std::chrono::steady_clock::now();
  }
  void stop(CUresult result) const {
    if (!span_ || result != CUDA_SUCCESS) return;
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - start_;
    span_.record(tracing::kv("duration_us", took.count() / 1e3),
                 tracing::kv("gb_per_s", took.count() > 0 ? static_cast<double>(bytes_) / took.count() : 0.0));
  }

 private:
  Span const& span_;
  std::size_t bytes_;
  std::chrono::steady_clock::time_point start_;
};

void const* address(CUdeviceptr pointer) noexcept { return reinterpret_cast<void const*>(pointer); }

}  // namespace

CUresult Driver::mem_alloc(CUdeviceptr* pointer, std::size_t bytes) {
  Span const span = TRACE_MAKE_SPAN(trace, "mem_alloc", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_alloc(pointer, bytes);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("pointer", address(*pointer)));
  return state_->check(result, [&] { return fmt::format("cuMemAlloc({} bytes)", bytes); });
}

CUresult Driver::mem_free(CUdeviceptr pointer) {
  TRACE_SPAN(trace, "mem_free", tracing::kv("pointer", address(pointer)));
  return state_->check(state_->api.mem_free(pointer), [&] { return fmt::format("cuMemFree({})", address(pointer)); });
}

CUresult Driver::mem_alloc_async(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  Span const span = TRACE_MAKE_SPAN(trace, "mem_alloc_async", bytes, tracing::kv("device", state_->device.load()),
                                    tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.mem_alloc_async(pointer, bytes, stream);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("pointer", address(*pointer)));
  return state_->check(result,
                       [&] { return fmt::format("cuMemAllocAsync({} bytes, {})", bytes, state_->text_of(stream)); });
}

CUresult Driver::mem_free_async(CUdeviceptr pointer, CUstream stream) {
  TRACE_SPAN(trace, "mem_free_async", tracing::kv("pointer", address(pointer)),
             tracing::kv("device", state_->device.load()), tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.mem_free_async(pointer, stream), [&] {
    return fmt::format("cuMemFreeAsync({}, {})", address(pointer), state_->text_of(stream));
  });
}

CUresult Driver::mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
  TRACE_SPAN(trace, "mem_host_alloc", bytes, flags);
  return state_->check(state_->api.mem_host_alloc(pointer, bytes, flags),
                       [&] { return fmt::format("cuMemHostAlloc({} bytes, flags {})", bytes, flags); });
}

CUresult Driver::mem_free_host(void* pointer) {
  TRACE_SPAN(trace, "mem_free_host", tracing::kv("pointer", static_cast<void const*>(pointer)));
  return check(state_->api.mem_free_host(pointer), "cuMemFreeHost()");
}

CUresult Driver::memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes) {
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_htod", bytes, tracing::kv("device", state_->device.load()),
                      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  Stopwatch const watch(span, bytes);
  CUresult const result = state_->api.memcpy_htod(to, from, bytes);
  watch.stop(result);
  return state_->check(result, [&] { return fmt::format("cuMemcpyHtoD({} bytes)", bytes); });
}

CUresult Driver::memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes) {
  Span const span =
      TRACE_MAKE_SPAN(trace, "memcpy_dtoh", bytes, tracing::kv("device", state_->device.load()),
                      tracing::kv("duration_us", tracing::empty), tracing::kv("gb_per_s", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  Stopwatch const watch(span, bytes);
  CUresult const result = state_->api.memcpy_dtoh(to, from, bytes);
  watch.stop(result);
  // The copy waited for all that the default stream waits for.
  if (result == CUDA_SUCCESS && bytes > 0)
    state_->report_completed(state_->log.complete_stream(nullptr, before), "cuMemcpyDtoH");
  return state_->check(result, [&] { return fmt::format("cuMemcpyDtoH({} bytes)", bytes); });
}

// Returns before the copy is done, so it is not timed.
CUresult Driver::memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  TRACE_SPAN(trace, "memcpy_dtod", bytes, tracing::kv("device", state_->device.load()));
  return state_->check(state_->api.memcpy_dtod(to, from, bytes),
                       [&] { return fmt::format("cuMemcpyDtoD({} bytes)", bytes); });
}

CUresult Driver::memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream) {
  TRACE_SPAN(trace, "memcpy_htod_async", bytes, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.memcpy_htod_async(to, from, bytes, stream),
                       [&] { return fmt::format("cuMemcpyHtoDAsync({} bytes, {})", bytes, state_->text_of(stream)); });
}

CUresult Driver::memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  TRACE_SPAN(trace, "memcpy_dtoh_async", bytes, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.memcpy_dtoh_async(to, from, bytes, stream),
                       [&] { return fmt::format("cuMemcpyDtoHAsync({} bytes, {})", bytes, state_->text_of(stream)); });
}

CUresult Driver::memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  TRACE_SPAN(trace, "memcpy_dtod_async", bytes, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.memcpy_dtod_async(to, from, bytes, stream),
                       [&] { return fmt::format("cuMemcpyDtoDAsync({} bytes, {})", bytes, state_->text_of(stream)); });
}

CUresult Driver::memset_d8(CUdeviceptr to, unsigned char value, std::size_t count) {
  TRACE_SPAN(trace, "memset_d8", value, count, tracing::kv("device", state_->device.load()));
  return state_->check(state_->api.memset_d8(to, value, count),
                       [&] { return fmt::format("cuMemsetD8({} elements)", count); });
}

CUresult Driver::memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  TRACE_SPAN(trace, "memset_d8_async", value, count, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.memset_d8_async(to, value, count, stream),
                       [&] { return fmt::format("cuMemsetD8Async({} elements, {})", count, state_->text_of(stream)); });
}

CUresult Driver::memset_d32(CUdeviceptr to, unsigned value, std::size_t count) {
  TRACE_SPAN(trace, "memset_d32", value, count, tracing::kv("device", state_->device.load()));
  return state_->check(state_->api.memset_d32(to, value, count),
                       [&] { return fmt::format("cuMemsetD32({} elements)", count); });
}

CUresult Driver::memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  TRACE_SPAN(trace, "memset_d32_async", value, count, tracing::kv("device", state_->device.load()),
             tracing::kv("stream", state_->log.number_of(stream)));
  return state_->check(state_->api.memset_d32_async(to, value, count, stream), [&] {
    return fmt::format("cuMemsetD32Async({} elements, {})", count, state_->text_of(stream));
  });
}

}  // namespace tracing::inline v1::cuda
