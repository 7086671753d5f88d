// LaunchLog: keeps the launches of a driver until their end is observed.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/cuda/driver/launch_ring.h"
#include "tracing_core/cuda/launch.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Keeps the launches of one driver, and the names of its kernels. A launch is added before the driver is called,
/// because it may end, and another thread may observe its end, before the call returns. An observation completes only
/// launches whose call had returned when the observation began. Thread-safe. Completed launches are returned to the
/// caller, so that their spans are closed without the lock.
///
/// begin() and accept() lock a mutex. They allocate only if a stream has more outstanding launches than ever before,
/// for a stream's first launch with a span, and for a kernel without a name.
class LaunchLog {
  struct Stream;

 public:
  /// At most this many outstanding launches of a stream are kept; older launches are only counted.
  static constexpr std::size_t kMaxPerStream = 256;

  /// A point in the order in which launches were accepted.
  using Mark = std::uint64_t;

  /// A launch that was added to this log. May be used even after the launch has left the log and its stream was
  /// destroyed.
  struct Added {
    Stream* stream = nullptr;
    LaunchId launch = 0;
    bool is_first = false;  ///< of its kernel
  };

  /// What a launch runs, and where.
  struct Names {
    std::string_view kernel;
    std::uint64_t stream = 0;
  };

  /// The launches that an event waits for: all launches of a stream up to a mark.
  struct EventMark {
    std::uint64_t stream = 0;
    Mark mark = 0;
  };

  /// Selects the completed launches that are returned.
  enum class Completed : std::uint8_t {
    all,
    with_span,  ///< launches with a span or a perf span
  };

  LaunchLog() { tracing::support::start_span_clock(); }

  /// Returns 0 for the default stream. Other streams are numbered as they are first seen; numbers are not reused.
  std::uint64_t number_of(CUstream stream);
  /// Adds a new stream. `waits_for_default`: the stream and the default stream wait for each other.
  void add_stream(CUstream stream, bool waits_for_default);
  /// Removes a stream, whose launches stay outstanding. Must be called before the stream is destroyed: its handle may
  /// be reused at once.
  void remove_stream(CUstream stream);

  /// Returns 0 for null. Events are numbered from 1 as they are first seen; numbers are not reused.
  std::uint64_t number_of(CUevent event);
  /// Removes an event. Must be called before the event is destroyed.
  void remove_event(CUevent event);

  void add_kernel(CUfunction function, CUmodule module, std::string const& name);
  /// Removes the kernels of a module. Must be called before the module is unloaded: handles of functions may be reused
  /// at once.
  void remove_kernels(CUmodule module);
  /// Returns the name of a kernel; `the function at 0x1234` if it is unknown. Valid until the process ends.
  std::string_view name_of(CUfunction function);
  /// Returns name_of() and number_of(), under one lock.
  Names names_of(CUfunction function, CUstream stream);

  /// Adds a launch whose call is about to be made.
  Added begin(CUfunction function, CUstream stream, LaunchRing::New const& launch, Span&& span, Span&& perf);
  /// Marks a launch as accepted by the driver.
  void accept(Added const& added);
  /// Removes and returns a launch that was refused or has ended. Its id is 0 if it is not in the log.
  Launch remove(Added const& added);

  Mark now() const;
  /// Records that the event waits for the launches of the stream up to `mark`.
  void record_event(CUevent event, CUstream stream, Mark mark);
  /// Returns what the event waits for. Call it before waiting for the event: another thread may record the event again.
  EventMark mark_of(CUevent event) const;

  /// Removes and returns the launches of the stream up to `mark`, oldest first. For the default stream, includes the
  /// launches of all streams that it waits for.
  std::vector<Launch> complete_stream(CUstream stream, Mark mark, Completed which = Completed::all);
  std::vector<Launch> complete_event(EventMark const& mark, Completed which = Completed::all);
  std::vector<Launch> complete_all(Mark mark, Completed which = Completed::all);

  /// Returns a copy of the outstanding launches, oldest first.
  std::vector<Launch> outstanding() const;
  /// Calls `f(Launch const&)` for each outstanding launch, oldest first. Neither waits nor allocates: returns false if
  /// another thread is using the log, or if a signal interrupted this thread while it was using the log.
  template <class F>
  bool try_visit(F&& f) const {
    if (!mutex_.try_lock()) return false;
    visit(f);
    mutex_.unlock();
    return true;
  }
  /// Returns how many outstanding launches are only counted.
  std::uint64_t forgotten() const;

 private:
  struct Stream {
    explicit Stream(std::uint64_t number) noexcept : launches(number) {}
    LaunchRing launches;
    std::uint64_t forgotten = 0;  // outstanding launches that are only counted
    std::size_t visited = 0;      // number of launches visited by the current visit()
    bool waits_for_default = true;
    bool is_destroyed = false;
  };
  struct EventInfo {
    std::uint64_t number = 0;
    EventMark mark;
  };
  struct Kernel {
    CUmodule module = nullptr;
    std::string_view name;
    bool was_launched = false;
  };
  Stream& stream_of(CUstream handle) TRACING_REQUIRES(mutex_);
  Stream& add(CUstream handle, std::uint64_t number) TRACING_REQUIRES(mutex_);
  void forget(CUstream handle) TRACING_REQUIRES(mutex_);
  EventInfo& info_of(CUevent event) TRACING_REQUIRES(mutex_);
  Kernel& kernel_of(CUfunction function) TRACING_REQUIRES(mutex_);
  template <class F>
  std::vector<Launch> complete(Mark mark, Completed which, F&& belongs) TRACING_REQUIRES(mutex_);
  template <class F>
  void visit(F&& f) const TRACING_REQUIRES(mutex_);

  mutable tracing::support::Mutex mutex_;
  // The stream that was used last; mostly it is used next, too.
  CUstream last_handle_ TRACING_GUARDED_BY(mutex_) = nullptr;
  Stream* last_used_ TRACING_GUARDED_BY(mutex_) = nullptr;  // may be null
  std::unordered_map<CUstream, Stream*> streams_ TRACING_GUARDED_BY(mutex_);
  // The kernel that was used last, as above.
  CUfunction last_function_ TRACING_GUARDED_BY(mutex_) = nullptr;
  Kernel* last_kernel_ TRACING_GUARDED_BY(mutex_) = nullptr;  // may be null
  std::unordered_map<CUfunction, Kernel> kernels_ TRACING_GUARDED_BY(mutex_);
  std::unordered_map<CUevent, EventInfo> events_ TRACING_GUARDED_BY(mutex_);
  // Includes destroyed streams, so that Added never dangles. The object of a destroyed stream is reused once it has no
  // launches.
  std::vector<std::unique_ptr<Stream>> all_streams_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t last_stream_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_event_ TRACING_GUARDED_BY(mutex_) = 0;
  Mark accepted_ TRACING_GUARDED_BY(mutex_) = 0;
};

// Looks at the next launch of each stream and visits the oldest of them, again and again.
template <class F>
void LaunchLog::visit(F&& f) const {
  for (auto const& stream : all_streams_) stream->visited = 0;
  for (;;) {
    Stream* next = nullptr;
    for (auto const& stream : all_streams_) {
      if (stream->visited == stream->launches.size()) continue;
      if (next == nullptr || stream->launches.id(stream->visited) < next->launches.id(next->visited))
        next = stream.get();
    }
    if (next == nullptr) return;
    next->launches.visit(next->visited++, f);
  }
}

}}}  // namespace tracing::v1::cuda
