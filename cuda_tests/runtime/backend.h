// Declares Backend, where kernels run: a GPU by its driver, or the CPU.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile_cache.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace cuda_tests {

/// A driver whose device is open, and a compiler for it. One of each kind in a process, made at its first use.
class Backend {
 public:
  /// The executor of PTX. Null where NVRTC is missing; `why` then says so.
  static Backend* cpu(std::string& why);
  /// The first GPU. Null where there is none, or neither NVRTC nor kernels in the program; `why` then says what is missing.
  static Backend* cuda(std::string& why);

  std::string_view name() const noexcept { return name_; }
  tracing::cuda::Driver& driver() noexcept { return driver_; }
  /// Whether NVRTC makes the kernels. Where it does not, they are those that the program carries in machine code.
  bool compiles() const noexcept { return compiles_; }
  tracing::cuda::CompileCache& compiler() noexcept { return compiler_; }
  /// Whether the kernel with this key was compiled in this process.
  bool has_compiled(std::string const& key) const;
  void mark_compiled(std::string const& key);
  /// What kernels are compiled for: `compute_75` for the CPU, the device's own architecture, such as `sm_90`, on a GPU.
  std::string const& arch() const noexcept { return arch_; }
  /// Where the headers are that kernels include.
  std::vector<std::string> const& include_folders() const noexcept { return include_folders_; }

 private:
  Backend(std::string_view name, tracing::cuda::DriverApi const& api, tracing::cuda::DriverOptions options,
          tracing::cuda::NvrtcApi const& nvrtc, bool has_machine_code);

  std::string_view name_;
  tracing::cuda::Driver driver_;
  tracing::cuda::CompileCache compiler_;
  bool compiles_ = false;
  mutable std::mutex mutex_;
  std::set<std::string> compiled_;  // guarded by mutex_
  std::string arch_;
  std::vector<std::string> include_folders_;
};

/// Whether NVRTC can make all kernels: it is here, knows the architecture, and one of the folders has the headers that kernels
/// include.
bool can_compile(tracing::cuda::NvrtcApi const& nvrtc, std::string_view arch, std::vector<std::string> const& include_folders);

}  // namespace cuda_tests
