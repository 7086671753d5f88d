// Mutex, MutexLock and CondVar: std::mutex and its companions with Clang's thread-safety annotations.
//
// `clang++ -Wthread-safety` then checks that a member marked TRACING_GUARDED_BY(mutex_) is only used while mutex_ is
// held. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html; the names follow absl/base/thread_annotations.h.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tracing_core/support/namespaces.h"
#include "tracing_core/support/thread_sanitizer.h"

#if defined(__clang__)
#define TRACING_INTERNAL_ANNOTATE_(x) __attribute__((x))
#else
#define TRACING_INTERNAL_ANNOTATE_(x)
#endif

// For data: it may be used only while `mutex` is held.
#define TRACING_GUARDED_BY(mutex) TRACING_INTERNAL_ANNOTATE_(guarded_by(mutex))
// For functions, in this order: the caller holds the mutex; the caller does not hold it; the function locks it; unlocks
// it; tries to lock it.
#define TRACING_REQUIRES(...) TRACING_INTERNAL_ANNOTATE_(requires_capability(__VA_ARGS__))
#define TRACING_EXCLUDES(...) TRACING_INTERNAL_ANNOTATE_(locks_excluded(__VA_ARGS__))
#define TRACING_ACQUIRE(...) TRACING_INTERNAL_ANNOTATE_(acquire_capability(__VA_ARGS__))
#define TRACING_RELEASE(...) TRACING_INTERNAL_ANNOTATE_(release_capability(__VA_ARGS__))
#define TRACING_TRY_ACQUIRE(...) TRACING_INTERNAL_ANNOTATE_(try_acquire_capability(__VA_ARGS__))
// For functions whose locking the analysis cannot follow: fork handlers, loops over several mutexes.
#define TRACING_NO_THREAD_SAFETY_ANALYSIS TRACING_INTERNAL_ANNOTATE_(no_thread_safety_analysis)

namespace tracing { inline namespace v1 { namespace support {

class TRACING_INTERNAL_ANNOTATE_(capability("mutex")) Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(Mutex const&) = delete;
  Mutex& operator=(Mutex const&) = delete;

  void lock() TRACING_ACQUIRE() {
    if (is_unseen_) begin_unseen_by_tsan();
    mutex_.lock();
  }
  void unlock() TRACING_RELEASE() {
    mutex_.unlock();
    if (is_unseen_) end_unseen_by_tsan();
  }
  bool try_lock() TRACING_TRY_ACQUIRE(true) {
    if (is_unseen_) begin_unseen_by_tsan();
    bool const is_locked = mutex_.try_lock();
    if (is_unseen_ && !is_locked) end_unseen_by_tsan();
    return is_locked;
  }

 protected:
  constexpr explicit Mutex(bool is_unseen) noexcept : is_unseen_(is_unseen) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
  bool const is_unseen_ = false;
};

/// A mutex that is hidden from ThreadSanitizer, together with everything that happens while it is held: see
/// UnseenByTsan.
class UnseenMutex : public Mutex {
 public:
  constexpr UnseenMutex() noexcept : Mutex(/*is_unseen=*/true) {}
};

/// Holds a mutex until the end of the scope, or until unlock().
class TRACING_INTERNAL_ANNOTATE_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TRACING_ACQUIRE(mutex) : mutex_(&mutex) { mutex.lock(); }
  /// Takes over a mutex that the calling thread has already locked.
  MutexLock(Mutex& mutex, std::adopt_lock_t) TRACING_REQUIRES(mutex) : mutex_(&mutex) {}
  MutexLock(MutexLock const&) = delete;
  MutexLock& operator=(MutexLock const&) = delete;
  ~MutexLock() TRACING_RELEASE() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  void unlock() TRACING_RELEASE() {
    mutex_->unlock();
    mutex_ = nullptr;
  }

 private:
  Mutex* mutex_;
};

/// A condition variable for Mutex. Waits may wake spuriously, so call them in a loop that checks the condition.
class CondVar {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  void wait(Mutex& mutex) TRACING_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// Returns false if the deadline passed before a wake-up.
  template <class Clock, class Duration>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> const& deadline) TRACING_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    bool const notified = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  template <class Rep, class Period>
  bool wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> const& duration) TRACING_REQUIRES(mutex) {
    return wait_until(mutex, std::chrono::steady_clock::now() + duration);
  }

 private:
  std::condition_variable condition_;
};

}}}  // namespace tracing::v1::support
