// WorkerState: what the thread that writes an output is doing, and how other threads wake it.
#pragma once

#include <chrono>
#include <utility>

#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Waking a thread that is parked costs the waking thread more than everything else, so a worker that has written
/// everything polls for a while before it parks. Guarded by the mutex of the output, as it decides with the data of the
/// output whether there is work.
class WorkerState {
 public:
  enum class Kind : unsigned char {
    running,  ///< writes, or was woken in order to write
    polling,  ///< looks for work again after an interval
    parked,   ///< does nothing until it is woken
  };

  bool is(Kind kind) const noexcept { return kind_ == kind; }

  void wake() noexcept {
    if (set_running()) notify();
  }
  /// The halves of wake(), for a caller that notifies after it has released the mutex. Returns true if the worker
  /// waits.
  bool set_running() noexcept { return std::exchange(kind_, Kind::running) != Kind::running; }
  void notify() noexcept { wake_.notify_one(); }

  /// On the worker, which runs again afterwards: waits until it is woken. Releases `mutex` meanwhile.
  void park(Mutex& mutex) noexcept TRACING_REQUIRES(mutex) {
    kind_ = Kind::parked;
    while (kind_ != Kind::running) wake_.wait(mutex);
  }
  /// As park(), but waits no longer than `interval`. Returns true if the worker was woken.
  bool wait(Mutex& mutex, Kind kind, std::chrono::milliseconds interval) noexcept TRACING_REQUIRES(mutex) {
    auto const end = std::chrono::steady_clock::now() + interval;
    kind_ = kind;
    while (kind_ != Kind::running && wake_.wait_until(mutex, end)) {
    }
    return !set_running();
  }

 private:
  Kind kind_ = Kind::running;
  CondVar wake_;
};

}}}  // namespace tracing::v1::internal
