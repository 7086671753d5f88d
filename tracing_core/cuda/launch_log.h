// LaunchLog: the launches of a driver whose end has not been observed.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "tracing_core/cuda/launch.h"
#include "tracing_core/internal/mutex.h"

namespace tracing::inline v1::cuda {

/// The launches of one driver. A launch is added before the driver is called, because it may end, and another thread
/// may observe that, before the call returns. An observation completes only those launches whose call had returned when
/// it began. Thread-safe. Completed launches are returned to the caller, so that their spans are closed without the
/// lock.
class LaunchLog {
 public:
  /// At most this many outstanding launches of a stream are kept; older ones are only counted.
  static constexpr std::size_t kMaxPerStream = 256;

  /// A point in the order in which launches were accepted.
  using Mark = std::uint64_t;

  /// What an event waits for: the launches of a stream up to a mark.
  struct EventMark {
    std::uint64_t stream = 0;
    Mark mark = 0;
  };

  /// 0 for the default stream; other streams are numbered as they are first seen, and numbers are not reused.
  std::uint64_t number_of(CUstream stream);
  /// `waits_for_default`: the stream and the default stream wait for each other.
  void add_stream(CUstream stream, bool waits_for_default);
  /// Must be called before the stream is destroyed: its handle may be reused at once. Its launches stay outstanding.
  void remove_stream(CUstream stream);

  /// 0 for null; events are numbered from 1 as they are first seen, and numbers are not reused.
  std::uint64_t number_of(CUevent event);
  /// Must be called before the event is destroyed.
  void remove_event(CUevent event);

  /// Adds a launch whose call is about to be made.
  void begin(CUstream stream, Launch const& launch);
  /// Marks a launch as accepted by the driver.
  void accept(LaunchId launch);
  /// Removes a launch that was refused or has ended; id 0 if it is not in the log.
  Launch remove(LaunchId launch);

  Mark now() const;
  /// Records that the event waits for the launches of the stream up to `mark`.
  void record_event(CUevent event, CUstream stream, Mark mark);
  /// Call it before waiting for the event: another thread may record the event again.
  EventMark mark_of(CUevent event) const;

  /// Removes and returns the launches of the stream up to `mark`, oldest first; for the default stream also those of
  /// the streams that it waits for.
  std::vector<Launch> complete_stream(CUstream stream, Mark mark);
  std::vector<Launch> complete_event(EventMark const& mark);
  std::vector<Launch> complete_all(Mark mark);

  /// A copy of the outstanding launches, oldest first.
  std::vector<Launch> outstanding() const;
  /// Calls `f(Launch const&)` for each outstanding launch in the order of their begin. Neither waits nor allocates: false if
  /// another thread uses the log, or the calling one does and was interrupted by a signal.
  template <class F>
  bool try_visit(F&& f) const {
    if (!mutex_.try_lock()) return false;
    for (Entry const& entry : entries_) f(entry.launch);
    mutex_.unlock();
    return true;
  }
  /// How many outstanding launches are only counted.
  std::uint64_t forgotten() const;

 private:
  struct Entry {
    Launch launch;
    bool waits_for_default = true;
    Mark accepted_at = 0;  // zero: its call has not returned
  };
  struct StreamInfo {
    std::uint64_t number = 0;
    bool waits_for_default = true;
  };
  struct Counts {
    std::size_t outstanding = 0;  // of those in entries_
    std::uint64_t forgotten = 0;
  };
  struct EventInfo {
    std::uint64_t number = 0;
    EventMark mark;
  };
  StreamInfo& info_of(CUstream stream) TRACING_REQUIRES(mutex_);
  EventInfo& info_of(CUevent event) TRACING_REQUIRES(mutex_);
  std::deque<Entry>::iterator find(LaunchId launch) TRACING_REQUIRES(mutex_);
  template <class F>
  std::vector<Launch> complete(Mark mark, F&& belongs) TRACING_REQUIRES(mutex_);

  mutable tracing::internal::Mutex mutex_;
  std::unordered_map<CUstream, StreamInfo> streams_ TRACING_GUARDED_BY(mutex_);
  std::unordered_map<CUevent, EventInfo> events_ TRACING_GUARDED_BY(mutex_);
  std::deque<Entry> entries_ TRACING_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Counts> counts_ TRACING_GUARDED_BY(mutex_);  // that are not zero, by stream number
  std::uint64_t last_stream_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_event_ TRACING_GUARDED_BY(mutex_) = 0;
  Mark accepted_ TRACING_GUARDED_BY(mutex_) = 0;
};

}  // namespace tracing::inline v1::cuda
