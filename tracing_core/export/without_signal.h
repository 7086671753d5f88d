// Declares how a thread is kept from signals: from one that something it does may raise, or from those of the program.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace tracing::inline v1::internal {

// While it lives, one signal does not reach this thread. One that waited before stays as it was.
class WithoutSignal {
 public:
  explicit WithoutSignal(int number) noexcept : number_(number) {
    sigemptyset(&signal_);
    sigaddset(&signal_, number);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_blocked_ = sigismember(&before_, number) == 1;
    sigset_t pending;
    // Only a blocked signal can be waiting.
    was_pending_ = was_blocked_ && sigpending(&pending) == 0 && sigismember(&pending, number_) == 1;
  }
  WithoutSignal(WithoutSignal const&) = delete;
  WithoutSignal& operator=(WithoutSignal const&) = delete;
  ~WithoutSignal() {
    if (!was_blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // Takes away the signal, where something raised it.
  void take() noexcept {
    constexpr timespec kNoWait{};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &kNoWait) < 0 && errno == EINTR) {
    }
  }

 private:
  int const number_;
  sigset_t signal_;
  sigset_t before_;
  bool was_blocked_;
  bool was_pending_;
};

// While it lives, a thread that is made takes no signals of the program's: those are handled by its own threads. Those that say
// what the thread did wrong stay.
class WithoutSignals {
 public:
  WithoutSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace tracing::inline v1::internal
