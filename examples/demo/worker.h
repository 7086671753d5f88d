// Worker is a toy thread that runs its jobs one after the other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include <tracing_core/tracing.h>

namespace demo {

class Worker {
 public:
  /// Runs the jobs on a thread of its own.
  explicit Worker(std::size_t jobs);
  Worker(Worker const&) = delete;
  Worker& operator=(Worker const&) = delete;
  ~Worker() { thread_.join(); }

  /// Waits until all jobs are done.
  void wait();

 private:
  void run(std::size_t jobs);

  std::mutex mutex_;
  std::condition_variable done_;
  std::thread thread_;
};

/// Reserves memory for so many elements.
void reserve(std::size_t elements);

}  // namespace demo
