// Declares Program, a PTX module loaded into a device's memory and decoded for the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cuda_tests/executor/device_memory.h"
#include "cuda_tests/ptx/module.h"

namespace cuda_tests {

struct DecodedKernel;

/// A variable of a loaded module.
struct LoadedVariable {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
};

/// Owns the memory of the module's variables in `memory`, which outlives it. Immutable, so any thread may use it.
class Program {
 public:
  /// Gives the module's global and constant variables their addresses and first values. Null where memory does not suffice.
  static std::shared_ptr<Program const> load(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory);
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;
  ~Program();

  ptx::Module const& module() const noexcept { return *module_; }
  /// A global or constant variable; address zero where there is none of this name.
  LoadedVariable find_variable(std::string_view name) const noexcept;
  /// What to run for an entry; null where there is none of this name, or where it is refused. Decoded at the first call.
  DecodedKernel const* find_kernel(std::string_view name) const;

 private:
  struct State;

  Program(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory);

  std::shared_ptr<ptx::Module const> module_;
  std::unique_ptr<State> state_;
};

}  // namespace cuda_tests
