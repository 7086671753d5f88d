// Streams: queues of work, each processed in order by its own thread.
//
// Work only ever waits for work that was submitted earlier, so there are no cycles:
//
//     stream 1   --k1--k2-----------k5-->      k2 ends before n3 starts, n3 before k4 and k5: the NULL stream
//     NULL       ---------n3------------>      waits for the blocking streams, and they wait for it.
//     stream 2   -------------k4-------->
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tracing_core/internal/mutex.h"

namespace cuda_cpu::cpu {

struct Stream;

/// A point in a stream: after its first `count` pieces of work.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t count = 0;
};

struct Work {
  std::function<void()> run;
  std::vector<Mark> after;
};

/// Members that are not const are guarded by the mutex of Streams.
struct Stream {
  Stream(std::uint64_t its_id, bool blocks) : id(its_id), is_blocking(blocks) {}

  std::uint64_t const id;
  bool const is_blocking;  // waits for the NULL stream, and the NULL stream for it
  std::deque<Work> queue;
  tracing::internal::CondVar has_work;
  std::vector<Mark> after_next;  // what the next work has to wait for, by wait_for()
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  bool has_thread = false;
  bool is_closed = false;
};

/// Thread-safe. It and its threads live until the process ends. An exception of some work ends the process.
class Streams {
 public:
  using Handle = std::shared_ptr<Stream>;

  Streams();

  Handle const& legacy() const noexcept { return legacy_; }
  Handle create(bool is_blocking);
  /// The stream still finishes its work; then its thread ends.
  void close(Handle const& stream);

  /// Adds work and returns its end.
  Mark submit(Handle const& stream, std::function<void()> run);
  /// Waits until the work is done; runs it on this thread if it has to wait for nothing.
  void run(Handle const& stream, std::function<void()> work);
  /// Like submit(), but runs the work on this thread if it has to wait for nothing. For work that takes no time.
  Mark submit_short(Handle const& stream, std::function<void()> work);
  /// Later work of the stream waits for the mark.
  void wait_for(Handle const& stream, Mark mark);

  /// The end of what was submitted to the stream and of what it waits for; for the legacy stream, also the end of the
  /// blocking streams.
  std::vector<Mark> end_of(Handle const& stream);
  std::vector<Mark> end_of_all();
  void wait(std::vector<Mark> const& marks);
  bool are_done(std::vector<Mark> const& marks);

 private:
  std::vector<Mark> marks_before(Handle const& stream) const TRACING_REQUIRES(mutex_);
  Mark submit_locked(Handle const& stream, std::function<void()> run) TRACING_REQUIRES(mutex_);
  bool can_run_here(Handle const& stream) const TRACING_REQUIRES(mutex_);
  Mark run_here(Handle const& stream, std::function<void()> const& work) TRACING_REQUIRES(mutex_);
  void wait_locked(Mark const& mark) TRACING_REQUIRES(mutex_);
  void process(Handle const& stream);

  mutable tracing::internal::Mutex mutex_;
  tracing::internal::CondVar progress_;  // some work is done
  std::vector<Handle> all_ TRACING_GUARDED_BY(mutex_);  // that are not closed or still have work
  std::uint64_t last_id_ TRACING_GUARDED_BY(mutex_) = 0;
  Handle legacy_;
};

}  // namespace cuda_cpu::cpu
