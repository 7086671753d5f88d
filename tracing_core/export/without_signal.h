// Declares how a thread is kept from a signal that something it does may raise.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>

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

}  // namespace tracing::inline v1::internal
