// FoldedLines: collects the lines of folded stacks from all threads; WaitingLines: holds the lines of one track until
// they are written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/per_track.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/flame/flame_stack.h"
#include "tracing_core/export/writer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

// Ends an incomplete line, so that no reader takes the first digits of a number for the whole number.
inline constexpr std::string_view kEndOfBrokenStack = " (cut)\n";

// Holds lines that one thread adds while another thread may take the lines added so far. take() and restart() need a
// lock.
class WaitingLines {
 public:
  // For the adding thread. Returns room after the waiting lines, or null if too little is left. commit() publishes a
  // complete line.
  char* reserve(std::size_t bytes) noexcept {
    std::size_t const size = size_.load(std::memory_order_relaxed);
    return capacity_ - size >= bytes ? text_.get() + size : nullptr;
  }
  void commit(std::size_t bytes) noexcept {
    size_.store(size_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  std::size_t bytes() const noexcept {
    return size_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed);
  }

  std::string_view take() noexcept {
    std::size_t const end = size_.load(std::memory_order_acquire);
    std::size_t const begin = taken_.exchange(end, std::memory_order_relaxed);
    return {text_.get() + begin, end - begin};
  }
  // For the adding thread. Begins again with room for `capacity` bytes. Returns false if memory ran out.
  // REQUIRES: all lines were taken.
  bool restart(std::size_t capacity) noexcept;

 private:
  std::unique_ptr<char[]> text_;
  std::size_t capacity_ = 0;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> taken_{0};
};

// Collects and writes lines. Each thread makes its own lines and keeps them until they are many or old, so threads meet
// only to write. Thread-safe. Does nothing in a forked child.
class FoldedLines {
 public:
  // `file`: the file that `writer` writes to, whose missing lines are counted; null if `writer` writes elsewhere. Time
  // counts from `start` or, if `start` is zero, from now on.
  static std::shared_ptr<FoldedLines> make(WriterPtr writer, FlameOptions const& options,
                                           std::shared_ptr<FdSink const> file = nullptr, Instant start = {});

  void enter(SpanRef span, Context const& context) noexcept;
  void exit(SpanRef span, Context const& context) noexcept { add(span, Change::exit, true, context); }
  void flush() noexcept;
  // Writes all waiting lines. Later lines are written at once.
  void stop_buffering() noexcept;
  std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed) + (file_ == nullptr ? 0 : file_->missing_lines());
  }

 private:
  // A time by the processor's counter, the system's clock, or both. A member is zero if it is unknown.
  struct Moment {
    std::uint64_t ticks = 0;
    Instant instant{};
  };
  struct TrackLines {
    FoldedStack stack;
    Moment last;
    WaitingLines lines;
    std::uint64_t waiting_ns = 0;  // how long the first line has waited
    TrackLines* next = nullptr;
  };

  FoldedLines(WriterPtr writer, FlameOptions const& options, std::shared_ptr<FdSink const> file, Moment const& start);
  ~FoldedLines() = default;
  bool is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

  enum class Change : bool { enter, exit };

  // Takes note that the time since the track's last line has passed in `span`: the thread now enters another span from
  // there, or exits `span`. Makes a line of this time if `is_wanted`.
  void add(SpanRef span, Change change, bool is_wanted, Context const& context) noexcept;
  void add_to(TrackLines& track, SpanRef span, Change change, bool is_wanted, Moment const& now) noexcept;
  bool stays_left_out(std::size_t depth, Change change) const noexcept;
  TrackLines* find(Track const& track) noexcept;
  static std::uint64_t ns_by_instants(Moment const& begin, Moment const& end) noexcept;
  void add_line(TrackLines& track, std::uint64_t ns) noexcept;
  void write_waiting(TrackLines& track) noexcept;
  char* make_room(TrackLines& track, std::size_t bytes) noexcept;
  void write(std::string_view lines) noexcept TRACING_REQUIRES(mutex_);
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

  WriterPtr const writer_;
  std::shared_ptr<FdSink const> const file_;  // or null
  FlameOptions const options_;
  std::atomic<std::size_t> buffered_bytes_;  // of each track
  Moment const start_;
  unsigned const forks_when_made_ = fork_count();
  std::atomic<std::uint64_t> dropped_{0};
  Mutex others_mutex_;  // serialises threads that add lines to tracks other than their own; taken before mutex_
  Mutex mutex_;         // serialises writing and PerTrack::find()
  PerTrack<TrackLines> tracks_;
};

}}}  // namespace tracing::v1::internal
