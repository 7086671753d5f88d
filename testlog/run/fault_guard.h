// run_guarded(): reads memory that may not be there.
#pragma once

namespace testlog { inline namespace v1 {

/// Calls `f(argument)`, which may read any address. If it reads an address that cannot be read, leaves `f` there,
/// without running destructors, and returns false. One thread at a time. Replaces the handlers of SIGSEGV and SIGBUS
/// meanwhile; faults of other threads wait and reach the program's handlers afterwards. Async-signal-safe if `f` is.
bool run_guarded(void (*f)(void* argument), void* argument) noexcept;

template <class F>
bool run_guarded(F&& f) noexcept {
  return run_guarded([](void* argument) { (*static_cast<F*>(argument))(); }, &f);
}

}}  // namespace testlog::v1
