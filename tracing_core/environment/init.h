// init_from_env(): the collecting side of a program in one call, as the TRACE_ variables ask for it.
#pragma once

#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/env_options.h"

namespace tracing::inline v1 {

namespace internal {
class EnvSession;
}  // namespace internal

/// Completes the files and prints the sums of perf spans when it is destroyed or, if it is not, when the program ends by
/// exit(). Movable.
class [[nodiscard]] EnvGuard {
 public:
  EnvGuard() = default;
  EnvGuard(EnvGuard&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  EnvGuard& operator=(EnvGuard&& other) noexcept;
  ~EnvGuard() { finish(); }

  /// False if init_from_env() changed nothing.
  explicit operator bool() const noexcept { return session_ != nullptr; }
  /// Writes all records so far. Thread-safe.
  void flush() const noexcept;

 private:
  friend EnvGuard init_from_env(EnvOptions defaults, RegistryBuilder builder);
  explicit EnvGuard(internal::EnvSession* session) noexcept : session_(session) {}
  void finish() noexcept;

  internal::EnvSession* session_ = nullptr;
};

/// Reads the variables of docs/environment.md that are not about tests, and makes a registry that prints and writes
/// what they say the global default:
///
///     int main() {
///       auto const tracing_guard = tracing::init_from_env({.filter = "mylib=debug"});
///       ...
///     }
///
/// A variable precedes its profile, and that `defaults`. Bad values are reported once where text goes, and count as
/// unset. `builder` may have layers of the program's own, which get all records that their filters select. If there is a
/// global default already, as in a test program, that stays, a line says so, and the guard is empty. Costs what its
/// layers cost; reads the environment and opens files, and so may take milliseconds. Call it on one thread.
EnvGuard init_from_env(EnvOptions defaults = {}, RegistryBuilder builder = {});

}  // namespace tracing::inline v1
