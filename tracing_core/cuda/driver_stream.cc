// Streams and events of a Driver, and what they tell of launches.
#include <string>

#include "tracing_core/cuda/driver_state.h"

namespace tracing::inline v1::cuda {

CUresult Driver::stream_create(CUstream* stream, unsigned flags) {
  Span const span = TRACE_MAKE_SPAN(trace, "stream_create", flags, tracing::kv("stream", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.stream_create(stream, flags);
  if (result == CUDA_SUCCESS) {
    state_->log.add_stream(*stream, (flags & CU_STREAM_NON_BLOCKING) == 0);
    span.record(tracing::kv("stream", state_->log.number_of(*stream)));
  }
  return state_->tell(result, [&] { return fmt::format("cuStreamCreate(flags {})", flags); });
}

CUresult Driver::stream_destroy(CUstream stream) {
  TRACE_SPAN(trace, "stream_destroy", tracing::kv("stream", state_->log.number_of(stream)));
  std::string const text = state_->text_of(stream);
  LaunchLog::StreamInfo const info = state_->log.take_stream(stream);
  CUresult const result = state_->api.stream_destroy(stream);
  if (result != CUDA_SUCCESS) state_->log.put_back(stream, info);
  return state_->tell(result, [&] { return fmt::format("cuStreamDestroy({})", text); });
}

CUresult Driver::stream_synchronize(CUstream stream) {
  TRACE_SPAN(trace, "stream_synchronize", tracing::kv("stream", state_->log.number_of(stream)));
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.stream_synchronize(stream);
  if (result == CUDA_SUCCESS) state_->complete(state_->log.complete_stream(stream, before), "cuStreamSynchronize");
  return state_->tell(result, [&] { return fmt::format("cuStreamSynchronize({})", state_->text_of(stream)); });
}

CUresult Driver::stream_query(CUstream stream) {
  Span const span = TRACE_MAKE_SPAN(trace, "stream_query", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("ready", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.stream_query(stream);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) span.record(tracing::kv("ready", result == CUDA_SUCCESS));
  if (result == CUDA_SUCCESS) state_->complete(state_->log.complete_stream(stream, before), "cuStreamQuery");
  return state_->tell(result, [&] { return fmt::format("cuStreamQuery({})", state_->text_of(stream)); });
}

CUresult Driver::stream_wait_event(CUstream stream, CUevent event, unsigned flags) {
  Span const span = TRACE_MAKE_SPAN(trace, "stream_wait_event", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", tracing::empty));
  auto const entered = span.enter();
  state_->is_capturing(span, stream);
  return state_->tell(state_->api.stream_wait_event(stream, event, flags),
                      [&] { return fmt::format("cuStreamWaitEvent({})", state_->text_of(stream)); });
}

CUresult Driver::event_create(CUevent* event, unsigned flags) {
  TRACE_SPAN(trace, "event_create", flags);
  return state_->tell(state_->api.event_create(event, flags), [&] { return fmt::format("cuEventCreate(flags {})", flags); });
}

CUresult Driver::event_destroy(CUevent event) {
  TRACE_SPAN(trace, "event_destroy");
  state_->log.remove_event(event);  // its handle may be another event's at once
  CUresult const result = state_->api.event_destroy(event);
  return told(result, "cuEventDestroy()");
}

CUresult Driver::event_record(CUevent event, CUstream stream) {
  Span const span = TRACE_MAKE_SPAN(trace, "event_record", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", tracing::empty));
  auto const entered = span.enter();
  bool const captured = state_->is_capturing(span, stream);
  // Before the call: launches that come after it on another thread are not what the event waits for.
  LaunchLog::Mark const before = state_->log.now();
  CUresult const result = state_->api.event_record(event, stream);
  // An event of a graph waits for nothing that was launched.
  if (result == CUDA_SUCCESS && !captured) state_->log.record_event(event, stream, before);
  return state_->tell(result, [&] { return fmt::format("cuEventRecord({})", state_->text_of(stream)); });
}

CUresult Driver::event_query(CUevent event) {
  Span const span = TRACE_MAKE_SPAN(trace, "event_query", tracing::kv("ready", tracing::empty));
  auto const entered = span.enter();
  LaunchLog::EventMark const mark = state_->log.mark_of(event);
  CUresult const result = state_->api.event_query(event);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) span.record(tracing::kv("ready", result == CUDA_SUCCESS));
  if (result == CUDA_SUCCESS) state_->complete(state_->log.complete_event(mark), "cuEventQuery");
  return told(result, "cuEventQuery()");
}

CUresult Driver::event_synchronize(CUevent event) {
  TRACE_SPAN(trace, "event_synchronize");
  LaunchLog::EventMark const mark = state_->log.mark_of(event);
  CUresult const result = state_->api.event_synchronize(event);
  if (result == CUDA_SUCCESS) state_->complete(state_->log.complete_event(mark), "cuEventSynchronize");
  return told(result, "cuEventSynchronize()");
}

CUresult Driver::event_elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  Span const span = TRACE_MAKE_SPAN(trace, "event_elapsed_time", tracing::kv("elapsed_ms", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.event_elapsed_time(milliseconds, start, end);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("elapsed_ms", *milliseconds));
  return told(result, "cuEventElapsedTime()");
}

}  // namespace tracing::inline v1::cuda
