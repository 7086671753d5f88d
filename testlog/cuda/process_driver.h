// Declares ProcessDriver, the CUDA driver that the process has loaded by itself, as code does that uses the runtime API.
#pragma once

#include <cuda.h>

namespace testlog::inline v1 {

/// Never loads the driver, nor makes a context. Thread-compatible.
class ProcessDriver {
 public:
  /// Waits for the primary context of each device that has one, whichever thread uses it, and for what is current on this
  /// thread. Success where there is nothing, or no driver loaded; else the first error.
  CUresult synchronize();

 private:
  bool find();
  CUresult synchronize_primary(CUdevice device);

  CUresult (*get_current_)(CUcontext* context) = nullptr;
  CUresult (*set_current_)(CUcontext context) = nullptr;
  CUresult (*synchronize_)() = nullptr;
  CUresult (*get_count_)(int* count) = nullptr;
  CUresult (*get_device_)(CUdevice* device, int ordinal) = nullptr;
  CUresult (*get_state_)(CUdevice device, unsigned* flags, int* active) = nullptr;
  CUresult (*retain_)(CUcontext* context, CUdevice device) = nullptr;
  CUresult (*release_)(CUdevice device) = nullptr;
};

}  // namespace testlog::inline v1
