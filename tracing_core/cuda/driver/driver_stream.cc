// The methods of Driver for streams and events, which observe the end of launches.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::stream"
#include "tracing_core/cuda/device_times.h"
#include "tracing_core/cuda/driver/driver_state.h"

namespace tracing { inline namespace v1 { namespace cuda {

std::uint64_t Driver::number_of(CUstream stream) { return state_->log.number_of(stream); }

CUresult Driver::stream_create(CUstream* stream, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "stream_create", flags, tracing::kv("stream", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.stream_create(stream, flags);
  if (result == CUDA_SUCCESS) {
    state_->log.add_stream(*stream, (flags & CU_STREAM_NON_BLOCKING) == 0);
    span.record(tracing::kv("stream", state_->log.number_of(*stream)));
  }
  return state_->check(result, "cuStreamCreate(flags {})", flags);
}

CUresult Driver::stream_destroy(CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::uint64_t const number = state_->log.number_of(stream);
  TRACE_SPAN(trace, "stream_destroy", tracing::kv("stream", number));
  state_->log.remove_stream(stream);
  return state_->check(state_->api.stream_destroy(stream), "cuStreamDestroy({})", text_of_stream(number));
}

CUresult Driver::stream_synchronize(CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "stream_synchronize", tracing::kv("stream", state_->log.number_of(stream)));
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.stream_synchronize(stream);
  if (result == CUDA_SUCCESS)
    state_->report_completed(state_->log.complete_stream(stream, before, state_->reported()), "cuStreamSynchronize");
  flush_device_times();
  return state_->check(result, "cuStreamSynchronize({})", stream);
}

CUresult Driver::stream_query(CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "stream_query", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("ready", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.stream_query(stream);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
    span.record(tracing::kv("ready", result == CUDA_SUCCESS));
  if (result == CUDA_SUCCESS)
    state_->report_completed(state_->log.complete_stream(stream, before, state_->reported()), "cuStreamQuery");
  return state_->check(result, "cuStreamQuery({})", stream);
}

CUresult Driver::stream_wait_event(CUstream stream, CUevent event, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "stream_wait_event", tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("event", state_->log.number_of(event)));
  return state_->check(state_->api.stream_wait_event(stream, event, flags), "cuStreamWaitEvent({}, {})", stream, event);
}

CUresult Driver::event_create(CUevent* event, unsigned flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "event_create", flags, tracing::kv("event", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.event_create(event, flags);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("event", state_->log.number_of(*event)));
  return state_->check(result, "cuEventCreate(flags {})", flags);
}

CUresult Driver::event_destroy(CUevent event, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::uint64_t const number = state_->log.number_of(event);
  TRACE_SPAN(trace, "event_destroy", tracing::kv("event", number));
  state_->log.remove_event(event);
  return state_->check(state_->api.event_destroy(event), "cuEventDestroy(event {})", number);
}

CUresult Driver::event_record(CUevent event, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  char const* const capture = state_->capture_of(stream);
  TRACE_SPAN(trace, "event_record", tracing::kv("event", state_->log.number_of(event)),
             tracing::kv("stream", state_->log.number_of(stream)), tracing::kv("capture", capture));
  // Read before the call, since the event does not wait for launches that another thread makes after it.
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.event_record(event, stream);
  // A captured event does not wait for launches.
  if (result == CUDA_SUCCESS && capture == nullptr) state_->log.record_event(event, stream, before);
  return state_->check(result, "cuEventRecord({}, {})", event, stream);
}

CUresult Driver::event_query(CUevent event, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "event_query", tracing::kv("event", state_->log.number_of(event)),
                                    tracing::kv("ready", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::EventMark const mark = state_->log.mark_of(event);
  CUresult const result = state_->api.event_query(event);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
    span.record(tracing::kv("ready", result == CUDA_SUCCESS));
  if (result == CUDA_SUCCESS)
    state_->report_completed(state_->log.complete_event(mark, state_->reported()), "cuEventQuery");
  return state_->check(result, "cuEventQuery({})", event);
}

CUresult Driver::event_synchronize(CUevent event, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "event_synchronize", tracing::kv("event", state_->log.number_of(event)));
  LaunchLog::EventMark const mark = state_->log.mark_of(event);
  CUresult const result = state_->api.event_synchronize(event);
  if (result == CUDA_SUCCESS)
    state_->report_completed(state_->log.complete_event(mark, state_->reported()), "cuEventSynchronize");
  flush_device_times();
  return state_->check(result, "cuEventSynchronize({})", event);
}

CUresult Driver::event_elapsed_time(float* milliseconds, CUevent start, CUevent end, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(trace, "event_elapsed_time", tracing::kv("start", state_->log.number_of(start)),
                      tracing::kv("end", state_->log.number_of(end)), tracing::kv("elapsed_ms", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.event_elapsed_time(milliseconds, start, end);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("elapsed_ms", *milliseconds));
  return state_->check(result, "cuEventElapsedTime({}, {})", start, end);
}

}}}  // namespace tracing::v1::cuda
