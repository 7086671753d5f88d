// run_guarded(): reads memory that may not be there.
#pragma once

namespace testlog::inline v1 {

/// Calls `f(argument)`, which may read any address. False if it read one that cannot be read; `f` was left there, without
/// running destructors. One thread at a time. Meanwhile handlers of SIGSEGV and SIGBUS are replaced; faults of other threads
/// wait and reach them afterwards. Async-signal-safe if `f` is.
bool run_guarded(void (*f)(void* argument), void* argument) noexcept;

template <class F>
bool run_guarded(F&& f) noexcept {
  return run_guarded([](void* argument) { (*static_cast<F*>(argument))(); }, &f);
}

}  // namespace testlog::inline v1
