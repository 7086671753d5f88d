// Declares LaunchLog, the launches whose end nobody has observed yet.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracing_core/cuda/dim3.h"
#include "tracing_core/emit/span.h"

namespace tracing::inline v1::cuda {

/// The number of a launch, counted from 1 in the process; zero is none.
using LaunchId = std::uint64_t;

/// A launch that was accepted. Its span is open until somebody observed its end.
struct Launch {
  LaunchId id = 0;
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint64_t stream = 0;  ///< as LaunchLog numbers them
  std::chrono::steady_clock::time_point at;
  Span span;  ///< none where nobody wanted it
};

/// The launch that this thread is making now: what a driver of ours asks, so that it can say later which one failed. Zero
/// outside of Driver::launch_kernel().
LaunchId current_launch() noexcept;

/// What is on the streams of one driver, as far as its calls tell. A launch is known from before its call, since it may end,
/// and its end be observed by another thread, before the call returns; what is observed ends only those whose call had
/// returned when the observation began. Thread-safe; spans are closed by whom the launches are given back to, not inside.
class LaunchLog {
 public:
  /// A stream's launches beyond this many are forgotten, oldest first, and counted.
  static constexpr std::size_t kMostPerStream = 256;

  /// A moment: what had been accepted by then.
  using Mark = std::uint64_t;

  struct EventMark {
    std::uint64_t stream = 0;
    Mark mark = 0;
  };

  /// The number of a stream: 0 for the default one, others as they are first seen, never one that another stream had.
  std::uint64_t number_of(CUstream stream);
  /// A stream that was made; `waits_for_default` is whether it and the default one wait for each other.
  void add_stream(CUstream stream, bool waits_for_default);

  struct StreamInfo {
    std::uint64_t number = 0;
    bool waits_for_default = true;
  };
  /// To be taken out before it is destroyed, since its handle may be another stream's at once, and put back where that failed.
  /// What it was asked to do stays outstanding.
  StreamInfo take_stream(CUstream stream);
  void put_back(CUstream stream, StreamInfo info);

  /// A call is about to be made.
  void begin(CUstream stream, Launch const& launch);
  /// It was accepted.
  void accept(LaunchId launch);
  /// It was not, or its end is known.
  Launch remove(LaunchId launch);

  /// The number of an event: from 1 on as they are made or first seen, never one that another event had; 0 for none.
  std::uint64_t number_of(CUevent event);
  /// An event that was made.
  void add_event(CUevent event);

  struct EventInfo {
    std::uint64_t number = 0;
    EventMark mark;
  };
  /// As take_stream() and put_back() of a stream.
  EventInfo take_event(CUevent event);
  void put_back(CUevent event, EventInfo info);

  Mark now() const;
  /// Marks what an event waits for: the stream's launches up to `mark`.
  void record_event(CUevent event, CUstream stream, Mark mark);
  /// What the event waits for now, to be asked before it is waited for: another thread may record it again.
  EventMark mark_of(CUevent event) const;

  /// What was accepted up to `mark` on the stream has ended, and for the default stream all that it waits for. Gives those
  /// launches back, oldest first.
  std::vector<Launch> complete_stream(CUstream stream, Mark mark);
  std::vector<Launch> complete_event(EventMark const& mark);
  std::vector<Launch> complete_all(Mark mark);

  /// Those outstanding, oldest first, without their end being observed.
  std::vector<Launch> outstanding() const;
  /// How many launches were forgotten among those that may be outstanding.
  std::uint64_t forgotten() const;

 private:
  struct Entry {
    Launch launch;
    bool waits_for_default = true;
    Mark accepted_at = 0;  // zero: its call has not returned
  };
  // Launches of a stream that are forgotten and may be outstanding.
  struct Forgotten {
    std::uint64_t count = 0;
    bool waits_for_default = true;
    Mark accepted_at = 0;  // the latest
  };
  StreamInfo& stream(CUstream stream);
  EventInfo& event(CUevent event);
  template <class F>
  std::vector<Launch> take(Mark mark, F&& belongs);

  mutable std::mutex mutex_;
  std::unordered_map<CUstream, StreamInfo> streams_;
  std::unordered_map<CUevent, EventInfo> events_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, Forgotten> forgotten_;  // by the stream's number
  std::uint64_t last_number_ = 0;  // of a stream
  std::uint64_t last_event_ = 0;
  Mark accepted_ = 0;
};

namespace internal {

// While it lives, this thread makes a launch of a new number.
class [[nodiscard]] LaunchScope {
 public:
  LaunchScope() noexcept;
  LaunchScope(LaunchScope const&) = delete;
  LaunchScope& operator=(LaunchScope const&) = delete;
  ~LaunchScope();
  LaunchId id() const noexcept { return id_; }

 private:
  LaunchId id_;
  LaunchId outer_;
};

}  // namespace internal
}  // namespace tracing::inline v1::cuda
