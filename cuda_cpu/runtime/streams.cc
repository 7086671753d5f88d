// Streams and events.
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&] { return driver().stream_create(stream, flags); });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
// All streams have one priority: cudaDeviceGetStreamPriorityRange() gives no other.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return release_call([&] { return driver().stream_destroy(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return driver().stream_synchronize(stream_of(stream)); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] { return driver().stream_query(stream_of(stream)); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] { return driver().stream_wait_event(stream_of(stream), event, flags); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&]() -> cudaError_t {
    if ((flags & cudaEventInterprocess) != 0)
      return refuse(cudaErrorNotSupported, "cudaEventInterprocess: processes do not share memory here");
    return to_error(driver().event_create(event, flags));
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return release_call([&] { return driver().event_destroy(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return driver().event_record(event, stream_of(stream)); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] { return driver().event_query(event); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return driver().event_synchronize(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&] { return driver().event_elapsed_time(milliseconds, start, end); });
}

}  // extern "C"
