// ProcessDriver: the CUDA driver that the process has loaded without tracing::cuda, for instance through the runtime
// API.
#pragma once

#include <cuda.h>

namespace testlog { inline namespace v1 {

/// Neither loads the driver nor creates a context. Thread-compatible.
class ProcessDriver {
 public:
  /// Waits for the current context of this thread and for the primary context of each device that has one. Returns the
  /// first error; success if there is no context or the driver is not loaded.
  CUresult synchronize();

 private:
  bool find();
  CUresult synchronize_primary(int ordinal);

  CUresult (*get_current_)(CUcontext* context) = nullptr;
  CUresult (*set_current_)(CUcontext context) = nullptr;
  CUresult (*synchronize_)() = nullptr;
  CUresult (*get_count_)(int* count) = nullptr;
  CUresult (*get_device_)(CUdevice* device, int ordinal) = nullptr;
  CUresult (*get_state_)(CUdevice device, unsigned* flags, int* active) = nullptr;
  CUresult (*retain_)(CUcontext* context, CUdevice device) = nullptr;
  CUresult (*release_)(CUdevice device) = nullptr;
};

}}  // namespace testlog::v1
