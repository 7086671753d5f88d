// A library that a process loads as its CUDA driver. The second of its two devices has a primary context, which is lost
// after break_device().
#include <cuda.h>

namespace {

bool broken = false;
bool capturing = false;
char destroyed_context = 0;
char primary_context = 0;
thread_local CUcontext current = nullptr;

}  // namespace

extern "C" {

void break_device() { broken = true; }
void begin_capture() { capturing = true; }
void end_capture() { capturing = false; }
void destroy_current() { current = reinterpret_cast<CUcontext>(&destroyed_context); }

CUresult cuDeviceGetCount(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = device == 1 ? reinterpret_cast<CUcontext>(&primary_context) : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (current == reinterpret_cast<CUcontext>(&destroyed_context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return broken ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

}  // extern "C"
