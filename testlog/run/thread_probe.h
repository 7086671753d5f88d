// ThreadProbe: finds out what the other threads of the process are doing.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "testlog/run/stack_trace.h"

namespace testlog { inline namespace v1 {

/// Fills `threads` with the system's numbers of this process's threads, in rising order, at most `max`. Returns how
/// many there are. Async-signal-safe.
std::size_t list_threads(long* threads, std::size_t max) noexcept;

/// Returns the name that the system has for a thread of this process, which is stored in `room`; empty if the thread
/// has ended. Async-signal-safe.
std::string_view system_name(long thread, char (&room)[32]) noexcept;

/// The state of a thread of this process, by the files of the system. Async-signal-safe.
struct ProcThreadState {
  char letter = 0;            ///< as in proc_pid_stat(5); 0 if the thread has ended
  long system_call = -1;      ///< in which it waits; -1 if it waits in none
  Registers registers{};      ///< the known registers of a thread that waits
  std::uint64_t ran_ns = 0;   ///< how long a thread that waits has run; 0 if the system does not count it
  bool blocks_probe = false;  ///< runs and blocks the signal that ThreadProbe sends

  static ProcThreadState of(long thread) noexcept;
};

/// Returns a name such as `futex`; empty if the call has no name here.
std::string_view name_of_system_call(long number) noexcept;

/// Follows the stacks of other threads. Does not disturb a thread that waits in a system call, since the kernel says
/// where its stack begins. Stops a running thread by SIGURG, which is ignored by default, for the time of the call. A
/// program that handles SIGURG keeps its handler. Only one ThreadProbe may exist at a time. Async-signal-safe.
class ThreadProbe {
 public:
  enum class Answer : std::uint8_t {
    stack,
    is_handled,  ///< the program handles SIGURG
    is_blocked,  ///< the thread blocks SIGURG
    none,        ///< it got no processor in time; all threads share half a second
    moved_on,    ///< it waited and went on meanwhile: what was read may be of several stacks
  };

  ThreadProbe() noexcept;
  ~ThreadProbe();
  ThreadProbe(ThreadProbe const&) = delete;
  ThreadProbe& operator=(ThreadProbe const&) = delete;

  /// Calls `f(StackTrace const&)` with the stack of a thread other than the calling one.
  template <class F>
  Answer visit_stack(long thread, ProcThreadState const& state, F&& f) noexcept {
    return visit_stack(
        thread, state, [](void* to, StackTrace const& stack) { (*static_cast<F*>(to))(stack); }, &f);
  }

 private:
  using Visit = void (*)(void* argument, StackTrace const& stack);
  Answer visit_stack(long thread, ProcThreadState const& state, Visit visit, void* argument) noexcept;
  bool stop(long thread) noexcept;

  struct sigaction before_ {};
  sigset_t mask_before_{};
  bool is_installed_ = false;
  std::uint64_t const end_ns_;  // of waiting for answers
};

}}  // namespace testlog::v1
