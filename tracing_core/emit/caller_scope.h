// CallerScope says who called a library; for_caller() gives a statement of the library a callsite for this caller.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/emit/caller.h"

namespace tracing { inline namespace v1 { namespace internal {

// The code that called the library: a line of source or, if only machine code is known, a target. The texts are never
// freed.
struct CurrentCaller {
  char const* file = nullptr;
  char const* function = nullptr;  // a signature
  char const* target = nullptr;    // without a function, equal targets have equal addresses
  std::uint32_t line = 0;
  void (*find)(CurrentCaller& caller) noexcept = nullptr;  // finds the target when the first record needs it
  void const* library = nullptr;                           // the object of the library that was called
  bool is_silent = false;                                  // the records would repeat those of the library
};

// Says who called the library, for the records of this thread during its lifetime. If one function of the library calls
// another, the first call counts.
class [[nodiscard]] CallerScope {
 public:
  explicit CallerScope(CurrentCaller const& caller) noexcept;
  CallerScope(Caller const& caller, void const* library) noexcept
      : CallerScope(CurrentCaller{caller.file(), caller.function(), caller.target(), caller.line(), nullptr, library}) {
  }
  CallerScope(CallerScope const&) = delete;
  CallerScope& operator=(CallerScope const&) = delete;
  ~CallerScope();

 private:
  CurrentCaller caller_;
  bool is_outermost_;
};

// Returns the caller; null outside of a CallerScope.
CurrentCaller* current_caller() noexcept;

// Drops the records for callers that this thread emits during its lifetime, or emits them nevertheless.
class [[nodiscard]] SilenceScope {
 public:
  explicit SilenceScope(bool is_silent) noexcept;
  SilenceScope(SilenceScope const&) = delete;
  SilenceScope& operator=(SilenceScope const&) = delete;
  ~SilenceScope();

 private:
  CurrentCaller* caller_;
  bool before_ = false;
};

// Returns the callsite of a statement for the current caller: a copy of the statement's callsite, made when a caller
// first reaches the statement and never freed. Outside of a CallerScope, returns the statement's own callsite. Costs
// some 5 ns.
Callsite* for_caller(Callsite* statement) noexcept;

}}}  // namespace tracing::v1::internal
