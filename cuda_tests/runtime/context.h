// Context holds the compiled and loaded kernels.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "cuda_tests/runtime/backend.h"
#include "cuda_tests/runtime/kernel.h"

namespace cuda_tests {

/// A kernel that is ready to be launched.
struct LoadedKernel {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
};

/// Compiles and loads kernels. Thread-compatible.
class Context {
 public:
  explicit Context(Backend& backend) : backend_(backend) {}
  Context(Context const&) = delete;
  Context& operator=(Context const&) = delete;
  ~Context();

  /// Returns the kernel, which is compiled and loaded on first use. Throws tracing::cuda::CompileError and Error.
  CUfunction function(Kernel const& kernel, ExecutionMode mode);

 private:
  LoadedKernel load(Kernel const& kernel, ExecutionMode mode);
  LoadedKernel load_image(Kernel const& kernel, std::string_view image, std::string const& entry);

  Backend& backend_;
  std::unordered_map<std::string, LoadedKernel> loaded_;
};

}  // namespace cuda_tests
