// Registry: the kernels and variables of the program, as code made by nvcc registers them before main().
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/support/mutex.h"

namespace cuda_cpu::process {

/// The fat binary of one translation unit, or of one device link. It is loaded at the first use of anything in it.
class Binary {
 public:
  /// `image` is a fat binary or PTX, which must outlive this.
  explicit Binary(void const* image) : image_(image) {}

  /// Loads the module. Later calls return the first result. Each call explains a failure; `user` names what needs the
  /// module.
  CUresult load(CUmodule* module, std::string const& user);
  /// Unloads the module; its next use loads it again.
  void unload() noexcept;

 private:
  void const* const image_;
  tracing::support::Mutex mutex_;
  CUresult result_ TRACING_GUARDED_BY(mutex_) = CUDA_ERROR_NOT_INITIALIZED;
  std::string why_ TRACING_GUARDED_BY(mutex_);  // the module could not be loaded
  bool is_loaded_ TRACING_GUARDED_BY(mutex_) = false;
  CUmodule module_ TRACING_GUARDED_BY(mutex_) = nullptr;
};

class Kernel {
 public:
  Kernel(Binary& its_binary, std::string its_name) : binary(its_binary), name(std::move(its_name)) {}

  /// Gives the function to launch, which the first call looks up.
  CUresult find(CUfunction* function);
  bool is(CUfunction function) const noexcept { return function_.load(std::memory_order_acquire) == function; }
  void forget() noexcept { function_.store(nullptr, std::memory_order_release); }

  Binary& binary;
  std::string const name;  // mangled

 private:
  std::atomic<CUfunction> function_{nullptr};
};

class Variable {
 public:
  Variable(Binary& its_binary, std::string its_name, std::size_t its_bytes, void** its_host_pointer)
      : binary(its_binary), name(std::move(its_name)), bytes(its_bytes), host_pointer(its_host_pointer) {}

  CUresult find(CUdeviceptr* address);

  Binary& binary;
  std::string const name;
  std::size_t const bytes;
  void** const host_pointer;  // of a managed variable: receives its address; otherwise null
};

/// Thread-safe. Nothing here calls the driver before a kernel or a variable is looked up.
class Registry {
 public:
  Binary& add(void const* wrapper);
  /// Forgets the binary with its kernels and variables.
  void remove(Binary& binary) noexcept;
  Kernel& add_kernel(Binary& binary, void const* host_function, char const* name);
  void remove_kernel(void const* host_function) noexcept;
  /// `host_pointer` is null unless the variable is managed.
  void add_variable(Binary& binary, void const* host_variable, char const* name, std::size_t bytes,
                    void** host_pointer);

  /// Finds a kernel by the address of its host function or of the Kernel itself. Null if there is none.
  Kernel* find_kernel(void const* host_function) const;
  /// Returns the host function of a kernel that was looked up; null if there is none.
  void const* host_function_of(CUfunction function) const;
  /// Returns the kernel's name in the source, for people.
  std::string name_of(CUfunction function) const;
  /// Returns null if nothing is registered for the address.
  Variable* find_variable(void const* host_variable) const;
  /// Gives the host the addresses of a binary's managed variables.
  CUresult place_managed(Binary& binary);
  /// Call it after the context was destroyed. Everything is loaded again at its next use.
  void forget_loaded() noexcept;

 private:
  mutable tracing::support::Mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_ TRACING_GUARDED_BY(mutex_);
  std::map<void const*, std::shared_ptr<Kernel>> kernels_ TRACING_GUARDED_BY(mutex_);  // by host function and by itself
  std::map<void const*, std::unique_ptr<Variable>> variables_ TRACING_GUARDED_BY(mutex_);  // by host variable
};

/// Returns the size of PTX or of a fat binary in memory.
std::size_t bytes_of(void const* image);
/// Returns false for a file with a fat binary that is cut off, or that only a program in memory can have.
bool is_complete(std::string const& image);

/// Returns the registry of the process. Never destroyed.
Registry& registry();

/// Returns cudaErrorInvalidDeviceFunction, explained.
cudaError_t no_kernel(void const* host_function);

/// Finds the function of a kernel, which public calls name by its host function or its cudaKernel_t.
cudaError_t find_function(void const* host_function, CUfunction* function);

}  // namespace cuda_cpu::process
