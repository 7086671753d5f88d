// Streams are queues of work. Each stream's work runs in order, usually on a thread of the stream.
//
// Work only ever waits for work that was submitted earlier, so there are no cycles:
//
//     stream 1   --k1--k2-----------k5-->      k2 ends before n3 starts, n3 before k4 and k5: the NULL stream
//     NULL       ---------n3------------>      waits for the blocking streams, and they wait for it.
//     stream 2   -------------k4-------->
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_cpu/cpu/stream_races.h"
#include "tracing_core/support/mutex.h"

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
  WorkOrder order;  // empty unless order is tracked
};

/// A stream. Members that are not const are guarded by the mutex of Streams.
struct Stream {
  Stream(std::uint64_t its_id, bool blocks) : id(its_id), is_blocking(blocks) {}

  std::uint64_t const id;
  bool const is_blocking;  // the stream and the NULL stream wait for each other
  std::deque<Work> queue;
  tracing::support::CondVar has_work;
  std::vector<Mark> after_next;  // marks of wait_for(), for which the next work has to wait
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  bool has_thread = false;
  bool is_closed = false;
  StreamClock clock;  // what is before the next work
};

/// All streams. Thread-safe. This object and its threads live until the process ends. If work throws, the process ends.
class Streams {
 public:
  using Handle = std::shared_ptr<Stream>;

  /// `tracks_order`: keeps the order of work, for current_order().
  explicit Streams(bool tracks_order = false);

  Handle const& legacy() const noexcept { return legacy_; }
  Handle create(bool is_blocking);
  /// Closes a stream. The stream still finishes its work; then its thread ends.
  void close(Handle const& stream);

  /// Adds work and returns its end.
  Mark submit(Handle const& stream, std::function<void()> run);
  /// Runs work and waits until it is done. Runs it on the calling thread if the work can start at once.
  void run(Handle const& stream, std::function<void()> work);
  /// Like submit(), but runs the work on the calling thread if the work can start at once. For work that takes no time.
  Mark submit_short(Handle const& stream, std::function<void()> work);
  /// Makes later work of the stream wait for the mark.
  void wait_for(Handle const& stream, Mark mark);

  /// Returns marks for the end of the work submitted to the stream, and the marks that the stream waits for; for the
  /// legacy stream, also the ends of the blocking streams.
  std::vector<Mark> end_of(Handle const& stream);
  std::vector<Mark> end_of_all();
  void wait(std::vector<Mark> const& marks);
  /// Returns false if the marks are not done at the deadline.
  bool wait_until(std::vector<Mark> const& marks, std::chrono::steady_clock::time_point deadline);
  bool are_done(std::vector<Mark> const& marks);
  /// Returns true if there is another stream than the legacy stream.
  bool are_several();

  /// Returns the order of the work that runs on this thread; null outside of work, or if order is not tracked.
  static WorkOrder const* current_order() noexcept;
  /// Called by work that the host may observe, such as a function of the user: what the host submits from now on is
  /// after the work.
  void show_to_host();

 private:
  std::vector<Mark> marks_before(Handle const& stream) const TRACING_REQUIRES(mutex_);
  Mark submit_locked(Handle const& stream, std::function<void()> run) TRACING_REQUIRES(mutex_);
  bool can_run_here(Handle const& stream) const TRACING_REQUIRES(mutex_);
  Mark run_here(Handle const& stream, std::function<void()> const& work) TRACING_REQUIRES(mutex_);
  WorkOrder next_order(Handle const& stream) TRACING_REQUIRES(mutex_);
  void see_done(StreamClock& clock, Mark const& mark) const TRACING_REQUIRES(mutex_);
  void wait_locked(Mark const& mark) TRACING_REQUIRES(mutex_);
  void process(Handle const& stream);

  mutable tracing::support::Mutex mutex_;
  tracing::support::CondVar progress_;                  // signals that some work is done
  std::vector<Handle> all_ TRACING_GUARDED_BY(mutex_);  // streams that are open or still have work
  std::uint64_t last_id_ TRACING_GUARDED_BY(mutex_) = 0;
  bool const tracks_order_;
  StreamClock host_ TRACING_GUARDED_BY(mutex_);  // what any thread of the host has waited for
  Handle legacy_;
};

}  // namespace cuda_cpu::cpu
