#include "testlog/cuda/process_driver.h"

#include <dlfcn.h>

namespace testlog { inline namespace v1 {
namespace {

template <class F>
bool resolve(void* library, char const* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool ProcessDriver::find() {
  if (release_ != nullptr) return true;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr && resolve(library, "cuCtxGetCurrent", get_current_) &&
         resolve(library, "cuCtxSetCurrent", set_current_) && resolve(library, "cuCtxSynchronize", synchronize_) &&
         resolve(library, "cuDeviceGetCount", get_count_) && resolve(library, "cuDeviceGet", get_device_) &&
         resolve(library, "cuDevicePrimaryCtxGetState", get_state_) &&
         resolve(library, "cuDevicePrimaryCtxRetain", retain_) &&
         resolve(library, "cuDevicePrimaryCtxRelease_v2", release_);
}

CUresult ProcessDriver::synchronize() {
  int devices = 0;
  // A driver that is not initialised has no work, and returns an error.
  if (!find() || get_count_(&devices) != CUDA_SUCCESS) return CUDA_SUCCESS;
  CUcontext current = nullptr;
  CUresult result = get_current_(&current) == CUDA_SUCCESS && current != nullptr ? synchronize_() : CUDA_SUCCESS;
  // A test may reset its device or destroy its context.
  if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED) result = CUDA_SUCCESS;
  for (int ordinal = 0; ordinal < devices && result == CUDA_SUCCESS; ++ordinal) result = synchronize_primary(ordinal);
  set_current_(current);
  return result;
}

CUresult ProcessDriver::synchronize_primary(int ordinal) {
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  CUcontext context = nullptr;
  if (get_device_(&device, ordinal) != CUDA_SUCCESS) return CUDA_SUCCESS;
  if (get_state_(device, &flags, &active) != CUDA_SUCCESS || active == 0) return CUDA_SUCCESS;
  if (retain_(&context, device) != CUDA_SUCCESS) return CUDA_SUCCESS;
  CUresult result = set_current_(context);
  if (result == CUDA_SUCCESS) result = synchronize_();
  release_(device);
  return result;
}

}}  // namespace testlog::v1
