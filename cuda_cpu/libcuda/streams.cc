// Streams and events.
#include <memory>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/libcuda/libcuda.h"

using namespace cuda_cpu::libcuda;

namespace {

struct Callback {
  CUstreamCallback function;
  void* data;
};

void CUDART_CB run(cudaStream_t stream, cudaError_t error, void* data) {
  std::unique_ptr<Callback> const callback(static_cast<Callback*>(data));
  callback->function(stream, static_cast<CUresult>(error), callback->data);
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().stream_create(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) { return cuStreamCreate(stream, flags); }
CUresult cuStreamDestroy(CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().stream_destroy(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().stream_synchronize(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().stream_query(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().stream_wait_event(stream, event, flags));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return check(api().stream_is_capturing(stream, status), "cuStreamIsCapturing()");
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  cuda_cpu::cpu::CallerScope const caller;
  CUresult const result = check(api().stream_get_id(stream, id), "cuStreamGetId()");
  if (result == CUDA_SUCCESS) *id = driver().number_of(stream);  // which spans have, too
  return result;
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  unsigned long long id = 0;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = cuStreamGetId(stream, &id);
  *flags = cuda_cpu::cpu::is_blocking_stream(stream) ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
  return result;
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  unsigned long long id = 0;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = 0;
  return cuStreamGetId(stream, &id);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) { return forward(cudaStreamGetDevice, stream, device); }
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) { return forward(cudaStreamCopyAttributes, to, from); }
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue const* value) {
  return forward(cudaStreamSetAttribute, stream, to_runtime(attribute), to_runtime(value));
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return forward(cudaStreamGetAttribute, stream, to_runtime(attribute), to_runtime(value));
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data, unsigned flags) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto callback = std::make_unique<Callback>(Callback{function, data});
  CUresult const result = forward(cudaStreamAddCallback, stream, run, callback.get(), flags);
  if (result == CUDA_SUCCESS) static_cast<void>(callback.release());
  return result;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_create(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_destroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_record(event, stream));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return forward(cudaEventRecordWithFlags, event, stream, flags);
}
CUresult cuEventQuery(CUevent event) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_query(event));
}
CUresult cuEventSynchronize(CUevent event) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_synchronize(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().event_elapsed_time(milliseconds, start, end));
}

}  // extern "C"
