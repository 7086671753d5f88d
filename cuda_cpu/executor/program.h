// Program is a PTX module loaded into the memory of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cuda_cpu/executor/device_memory.h"
#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu {

struct DecodedKernel;

/// A variable of a loaded module.
struct LoadedVariable {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
};

/// A loaded module. Owns the memory of the module's variables. The DeviceMemory must outlive it. Thread-safe.
class Program {
 public:
  /// Allocates and initializes the module's global and constant variables. Returns null if memory is exhausted.
  static std::shared_ptr<Program const> load(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory);
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;
  ~Program();

  ptx::Module const& module() const noexcept { return *module_; }
  /// Returns a global or constant variable; its address is zero if no variable has this name.
  LoadedVariable find_variable(std::string_view name) const noexcept;
  /// Returns the decoded entry of this name, or null if it does not exist or is refused. The first call decodes it.
  DecodedKernel const* find_kernel(std::string_view name) const;

 private:
  struct State;

  Program(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory);
  std::uintptr_t address_of(std::string_view symbol) const noexcept;  // address of a variable or a function

  std::shared_ptr<ptx::Module const> module_;
  std::unique_ptr<State> state_;
};

}  // namespace cuda_cpu
