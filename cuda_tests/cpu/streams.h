// Declares Streams, the queues of work of the device, each worked off by a thread of its own in order.
//
// What waits for what is always work that was submitted earlier, so there is no circle:
//
//     stream 1   --k1--k2-----------k5-->      k2 ends before n3 starts, n3 before k4 and k5: the NULL stream waits for the
//     NULL       ---------n3------------>      blocking streams and they for it.
//     stream 2   -------------k4-------->
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cuda_tests::cpu {

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

/// Members are guarded by the lock of Streams, but for those that never change.
struct Stream {
  Stream(std::uint64_t its_id, bool blocks) : id(its_id), is_blocking(blocks) {}

  std::uint64_t const id;
  bool const is_blocking;  // waits for the NULL stream, and the NULL stream for it
  std::deque<Work> queue;
  std::condition_variable has_work;
  std::vector<Mark> after_next;  // what the next work waits for besides, by stream_wait_event
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  bool has_thread = false;
  bool is_closed = false;
};

/// Thread-safe. Lives until the process ends, as do the threads. Work that throws ends the process.
class Streams {
 public:
  using Handle = std::shared_ptr<Stream>;

  Streams();

  Handle const& legacy() const noexcept { return legacy_; }
  Handle create(bool is_blocking);
  /// What was submitted is still done; then its thread ends.
  void close(Handle const& stream);

  /// The end of the work.
  Mark submit(Handle const& stream, std::function<void()> run);
  /// Does the work before it returns: on this thread, where nothing that it would wait for is under way.
  void run(Handle const& stream, std::function<void()> work);
  /// As submit(), but done at once, on this thread, where nothing is before it: for what takes no time.
  Mark submit_short(Handle const& stream, std::function<void()> work);
  /// What is submitted to the stream from now on waits for the mark.
  void wait_for(Handle const& stream, Mark mark);

  /// The end of what was submitted to the stream, and of what it was told to wait for; of the legacy stream, also of what
  /// blocking streams have to do.
  std::vector<Mark> end_of(Handle const& stream);
  std::vector<Mark> end_of_all();
  void wait(std::vector<Mark> const& marks);
  bool are_done(std::vector<Mark> const& marks);

 private:
  std::vector<Mark> marks_before(Handle const& stream) const;
  Mark submit_locked(Handle const& stream, std::function<void()> run);
  Mark run_here(std::unique_lock<std::mutex>& lock, Handle const& stream, std::function<void()> const& work);
  void work_off(Handle const& stream);

  mutable std::mutex mutex_;
  std::condition_variable progress_;  // a piece of work is done
  std::vector<Handle> all_;           // those that are not closed or not done yet; guarded by mutex_
  std::uint64_t last_id_ = 0;         // guarded by mutex_
  Handle legacy_;
};

}  // namespace cuda_tests::cpu
