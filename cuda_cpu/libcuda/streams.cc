// Streams and events.
#include "cuda_cpu/cpu/further_calls.h"
#include "cuda_cpu/libcuda/libcuda.h"

using namespace cuda_cpu::libcuda;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return done(driver().stream_create(stream, flags)); }
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) { return cuStreamCreate(stream, flags); }
CUresult cuStreamDestroy(CUstream stream) { return done(driver().stream_destroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return done(driver().stream_synchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) { return done(driver().stream_query(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return done(driver().stream_wait_event(stream, event, flags));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return check(api().stream_is_capturing(stream, status), "cuStreamIsCapturing()");
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return check(api().stream_get_id(stream, id), "cuStreamGetId()");
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

CUresult cuEventCreate(CUevent* event, unsigned flags) { return done(driver().event_create(event, flags)); }
CUresult cuEventDestroy(CUevent event) { return done(driver().event_destroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return done(driver().event_record(event, stream)); }
CUresult cuEventQuery(CUevent event) { return done(driver().event_query(event)); }
CUresult cuEventSynchronize(CUevent event) { return done(driver().event_synchronize(event)); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return done(driver().event_elapsed_time(milliseconds, start, end));
}

}  // extern "C"
