// Caller: the place that called a library, whose records are then the caller's.
#pragma once

#include <cstdint>
#include <version>

#if defined(__cpp_lib_source_location)
#include <source_location>
#endif

#include "tracing_core/support/cxx20.h"

// TRACE_TARGET, if defined before this header is included, is the target of the callers in the file.
#ifdef TRACE_TARGET
#define TRACING_INTERNAL_CALLERS_TARGET_ TRACE_TARGET
#else
#define TRACING_INTERNAL_CALLERS_TARGET_ ""
#endif

namespace tracing { inline namespace v1 {

/// The place that called a function of a library. It is the default argument of functions that record for their
/// callers: `void free(void* memory, Caller caller = Caller::here())`. The texts are never freed. Compilers without
/// std::source_location, such as Clang 14, do not know the function.
class Caller {
 public:
#if defined(__cpp_lib_source_location)
  static constexpr Caller here(std::source_location where = std::source_location::current(),
                               char const* target = TRACING_INTERNAL_CALLERS_TARGET_) noexcept {
    return {where.file_name(), where.function_name(), target, where.line()};
  }
#else
  static constexpr Caller here(char const* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                               char const* target = TRACING_INTERNAL_CALLERS_TARGET_) noexcept {
    return {file, "", target, line};
  }
#endif

  constexpr char const* file() const noexcept { return file_; }
  /// Returns the signature, such as `void solver::Mesh::refine(int)`; empty if it is not known.
  constexpr char const* function() const noexcept { return function_; }
  /// Returns TRACE_TARGET of the file; empty if the file defines no target.
  constexpr char const* target() const noexcept { return target_; }
  constexpr std::uint32_t line() const noexcept { return line_; }

 private:
  constexpr Caller(char const* file, char const* function, char const* target, std::uint32_t line) noexcept
      : file_(file), function_(function), target_(target), line_(line) {}

  char const* file_;
  char const* function_;
  char const* target_;
  std::uint32_t line_;
};

}}  // namespace tracing::v1
