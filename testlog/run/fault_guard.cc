#include "testlog/run/fault_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <iterator>

namespace testlog { inline namespace v1 {
namespace {

constexpr int kGuardedSignals[] = {SIGSEGV, SIGBUS};

struct Guard {
  sigjmp_buf back;
  std::atomic<long> thread{0};  // the thread that is guarded
  struct sigaction before[std::size(kGuardedSignals)] = {};
};
constinit Guard guard{};

void restore(int signal) noexcept { sigaction(signal, &guard.before[signal == kGuardedSignals[0] ? 0 : 1], nullptr); }

// Returns false if the guard is still there after ten seconds.
bool wait_for_end_of_guard() noexcept {
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int i = 0; i < 10'000 && guard.thread != 0; ++i) nanosleep(&kMillisecond, nullptr);
  return guard.thread == 0;
}

// A fault of another thread happens again when the guard is gone, and a signal that was sent is sent again.
void on_fault(int signal, siginfo_t* info, void*) {
  int const error_before = errno;
  bool const is_guarded = guard.thread == syscall(SYS_gettid);
  if (is_guarded && info->si_code > 0) siglongjmp(guard.back, 1);
  if (is_guarded || !wait_for_end_of_guard()) restore(signal);
  if (info->si_code <= 0) raise(signal);
  errno = error_before;
}

bool call_and_return(void (*f)(void*), void* argument) noexcept {
  if (sigsetjmp(guard.back, 0) != 0) return false;
  f(argument);
  return true;
}

}  // namespace

bool run_guarded(void (*f)(void* argument), void* argument) noexcept {
  sigset_t faults, mask;
  sigemptyset(&faults);
  for (int const signal : kGuardedSignals) sigaddset(&faults, signal);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  guard.thread = syscall(SYS_gettid);
  for (std::size_t i = 0; i < std::size(kGuardedSignals); ++i) sigaction(kGuardedSignals[i], &action, &guard.before[i]);
  pthread_sigmask(SIG_UNBLOCK, &faults, &mask);
  bool const returned = call_and_return(f, argument);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  for (int const signal : kGuardedSignals) restore(signal);
  guard.thread = 0;
  return returned;
}

}}  // namespace testlog::v1
