// Blocks signals of the calling thread for a scope: SIGPIPE and SIGXFSZ, which a failed write raises, or all
// asynchronous signals.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

// Blocks SIGPIPE and SIGXFSZ, which a failed write(2) raises and which would end the program. A signal that was already
// pending stays pending.
class ScopedSignalBlock {
 public:
  ScopedSignalBlock() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    for (int const number : {SIGPIPE, SIGXFSZ}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, &mask_before_);
    sigemptyset(&pending_before_);
    // Only a signal that was blocked before can be pending.
    bool const was_blocked = sigismember(&mask_before_, SIGPIPE) == 1 || sigismember(&mask_before_, SIGXFSZ) == 1;
    if (was_blocked) sigpending(&pending_before_);
  }
  ScopedSignalBlock(ScopedSignalBlock const&) = delete;
  ScopedSignalBlock& operator=(ScopedSignalBlock const&) = delete;
  ~ScopedSignalBlock() { pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }

  // Discards the signal that a write raised. REQUIRES: the write failed with EPIPE (SIGPIPE) or EFBIG (SIGXFSZ).
  void discard(int number) noexcept {
    if (sigismember(&pending_before_, number) == 1) return;
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, number);
    constexpr timespec kNoWait{};
    while (sigtimedwait(&signal, nullptr, &kNoWait) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t mask_before_;
  sigset_t pending_before_;
};

// Blocks all signals except those that report a fault of the thread itself. A thread that is started in the scope
// inherits the mask, so that only the program's own threads handle the program's signals.
class ScopedAsyncSignalBlock {
 public:
  ScopedAsyncSignalBlock() noexcept {
    sigset_t signals;
    sigfillset(&signals);
    for (int const fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&signals, fault);
    pthread_sigmask(SIG_BLOCK, &signals, &mask_before_);
  }
  ScopedAsyncSignalBlock(ScopedAsyncSignalBlock const&) = delete;
  ScopedAsyncSignalBlock& operator=(ScopedAsyncSignalBlock const&) = delete;
  ~ScopedAsyncSignalBlock() { pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }

 private:
  sigset_t mask_before_;
};

}}}  // namespace tracing::v1::support
