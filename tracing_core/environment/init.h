// init_from_env(): sets up the collecting side of a program in one call, as the TRACE_ variables ask.
#pragma once

#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/env_options.h"

namespace tracing { inline namespace v1 {

namespace environment {
class EnvSession;
}  // namespace environment

/// Completes the files and prints the sums of perf spans when the guard is destroyed, or at exit() if it is never
/// destroyed. Movable.
class [[nodiscard]] EnvGuard {
 public:
  EnvGuard() = default;
  EnvGuard(EnvGuard&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  EnvGuard& operator=(EnvGuard&& other) noexcept;
  ~EnvGuard() { finish(); }

  /// Returns false if init_from_env() changed nothing.
  explicit operator bool() const noexcept { return session_ != nullptr; }
  /// Writes all records so far. Thread-safe.
  void flush() const noexcept;

 private:
  friend EnvGuard init_from_env(EnvOptions defaults, RegistryBuilder builder);
  explicit EnvGuard(environment::EnvSession* session) noexcept : session_(session) {}
  void finish() noexcept;

  environment::EnvSession* session_ = nullptr;
};

/// Reads the variables of docs/environment.md that are not about tests, builds a registry that prints and writes what
/// they ask for, and makes it the global default:
///
///     int main() {
///       auto const tracing_guard = tracing::init_from_env({.filter = "mylib=debug"});
///       ...
///     }
///
/// A variable takes precedence over TRACE_PROFILE, and the profile over `defaults`. Bad values are reported once, where
/// text goes, and count as unset. `builder` may have layers of the program's own, which get all records that their
/// filters select. If a global default exists already, as in a test program, it stays, a line says so, and the guard is
/// empty. The call reads the environment and opens files, so it may take milliseconds; after that, records cost what
/// the layers cost. Call it on one thread.
EnvGuard init_from_env(EnvOptions defaults = {}, RegistryBuilder builder = {});

}}  // namespace tracing::v1
