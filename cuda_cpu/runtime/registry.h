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

#include "tracing_core/internal/mutex.h"

namespace cuda_cpu::runtime {

/// What one translation unit, or one device link, brings: its fat binary, which is loaded at the first use of anything
/// in it.
class Binary {
 public:
  /// A fat binary or PTX, which must outlive it.
  explicit Binary(void const* image) : image_(image) {}

  /// Loads the module. Later calls return the same result. A failure is explained, and explained again for each `user`:
  /// what needs the module.
  CUresult load(CUmodule* module, std::string const& user);
  /// Unloads it; the next use loads it again.
  void unload() noexcept;

 private:
  void const* const image_;
  tracing::internal::Mutex mutex_;
  CUresult result_ TRACING_GUARDED_BY(mutex_) = CUDA_ERROR_NOT_INITIALIZED;
  std::string why_ TRACING_GUARDED_BY(mutex_);  // it could not be loaded
  bool is_loaded_ TRACING_GUARDED_BY(mutex_) = false;
  CUmodule module_ TRACING_GUARDED_BY(mutex_) = nullptr;
};

class Kernel {
 public:
  Kernel(Binary& its_binary, std::string its_name) : binary(its_binary), name(std::move(its_name)) {}

  /// The function to launch, which is looked up at the first call.
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
  void** const host_pointer;  // of a managed variable: receives its address; else null
};

/// Thread-safe. Nothing here calls the driver before a kernel or a variable is looked up.
class Registry {
 public:
  Binary& add(void const* wrapper);
  /// Forgets the binary and what belongs to it.
  void remove(Binary& binary) noexcept;
  Kernel& add_kernel(Binary& binary, void const* host_function, char const* name);
  void remove_kernel(void const* host_function) noexcept;
  /// `host_pointer` is null unless the variable is managed.
  void add_variable(Binary& binary, void const* host_variable, char const* name, std::size_t bytes,
                    void** host_pointer);

  /// A kernel by the address of its host function or of the Kernel itself. Null if there is none.
  Kernel* find_kernel(void const* host_function) const;
  /// The host function of a kernel that was looked up. Null if there is none.
  void const* host_function_of(CUfunction function) const;
  /// How the source names such a kernel, for people.
  std::string name_of(CUfunction function) const;
  /// Null if there is none.
  Variable* find_variable(void const* host_variable) const;
  /// Gives the host the addresses of a binary's managed variables.
  CUresult place_managed(Binary& binary);
  /// After the context was destroyed: everything is loaded again at its next use.
  void forget_loaded() noexcept;

 private:
  mutable tracing::internal::Mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_ TRACING_GUARDED_BY(mutex_);
  std::map<void const*, std::shared_ptr<Kernel>> kernels_ TRACING_GUARDED_BY(mutex_);  // by host function and by itself
  std::map<void const*, std::unique_ptr<Variable>> variables_ TRACING_GUARDED_BY(mutex_);  // by host variable
};

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host_function);

/// Of a file: false if it is a fat binary that is cut off, or one that only a program in memory can have.
bool is_complete(std::string const& image);

/// That of the process. Never destroyed.
Registry& registry();

/// The function of a kernel, given as the public calls take it: by its host function or its cudaKernel_t.
cudaError_t find_function(void const* host_function, CUfunction* function);

}  // namespace cuda_cpu::runtime
