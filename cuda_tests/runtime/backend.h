// Backend is a device that runs kernels, a GPU or the CPU.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile_cache.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace cuda_tests {

/// A driver with an open device, and a compiler for it. A process has at most one backend of each kind, created on
/// first use.
class Backend {
 public:
  /// Returns the executor of PTX. Returns null if NVRTC is missing; then `why` explains it.
  static Backend* cpu(std::string& why);
  /// Returns the first GPU. Returns null if the machine has no GPU, or if the program has neither NVRTC nor embedded
  /// kernels; then `why` explains it.
  static Backend* cuda(std::string& why);

  std::string_view name() const noexcept { return name_; }
  tracing::cuda::Driver& driver() noexcept { return driver_; }
  /// Returns true if kernels are compiled with NVRTC; otherwise they are embedded in the program as machine code.
  bool compiles() const noexcept { return compiles_; }
  tracing::cuda::CompileCache& compiler() noexcept { return compiler_; }
  /// Returns the target of compilations: `compute_75` for the CPU, the architecture of the device, such as `sm_90`, for
  /// a GPU.
  std::string const& arch() const noexcept { return arch_; }
  /// Returns the folders of the headers that kernels include.
  std::vector<std::string> const& include_folders() const noexcept { return include_folders_; }

 private:
  Backend(std::string_view name, tracing::cuda::DriverApi const& api, tracing::cuda::DriverOptions options,
          tracing::cuda::NvrtcApi const& nvrtc, bool has_machine_code);

  std::string_view name_;
  tracing::cuda::Driver driver_;
  tracing::cuda::CompileCache compiler_;
  bool compiles_ = false;
  std::string arch_;
  std::vector<std::string> include_folders_;
};

/// Returns true if NVRTC can compile all kernels: it is available, knows the architecture, and one of the folders has
/// the headers that kernels include.
bool can_compile(tracing::cuda::NvrtcApi const& nvrtc, std::string_view arch,
                 std::vector<std::string> const& include_folders);

}  // namespace cuda_tests
