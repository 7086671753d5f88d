#include "worker.h"

#include <signal.h>

#include <tracing_core/dispatch/thread_name.h>

namespace demo {

Worker::Worker(std::size_t jobs) : thread_([this, jobs] { run(jobs); }) {}

void Worker::run(std::size_t jobs) {
  tracing::set_thread_name("worker");
  TRACE_SPAN(debug, "run", jobs);
  for (std::size_t job = 0; job < jobs; ++job) TRACE_TRACE("job done", job);
  done_.notify_all();
  TRACE_DEBUG("told the waiting thread");
}

// The second bug of the demo: a thread that begins to wait when the jobs are done already waits for ever.
void Worker::wait() {
  TRACE_SPAN(debug, "wait");
  std::unique_lock lock(mutex_);
  done_.wait(lock);
}

void reserve(std::size_t elements) {
  TRACE_SPAN(debug, "reserve", elements);
  TRACE_INFO("reserving {} bytes", elements * sizeof(int));
  // The third bug: the system ends a process that takes too much memory. The demo only sends itself the signal.
  if (elements > std::size_t{1} << 30) raise(SIGKILL);
}

}  // namespace demo
