// Declares FoldedLines, where the lines of folded stacks come together, and WaitingLines, those of one track that wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/by_track.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/flame_stack.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/writer.h"

namespace tracing::inline v1::internal {

// Behind a line that broke off, so that nobody takes the digits of a number that are there for the number.
inline constexpr std::string_view kEndOfBrokenStack = " (cut)\n";

// Lines that one thread adds while another one may write those that are there. Who writes, or makes room, holds a lock.
class WaitingLines {
 public:
  struct Line {
    std::uint64_t ticks;  // when it was added
    std::size_t end;
  };

  // The adding thread's. Room behind what is there, null where there is none; commit() makes it a line.
  char* reserve(std::size_t bytes) noexcept {
    return capacity_ - size_ >= bytes && count_.load(std::memory_order_relaxed) < most_lines_ ? text_.get() + size_ : nullptr;
  }
  void commit(std::size_t bytes, std::uint64_t ticks) noexcept {
    std::size_t const count = count_.load(std::memory_order_relaxed);
    size_ += bytes;
    lines_[count] = {ticks, size_};
    count_.store(count + 1, std::memory_order_release);
  }
  std::size_t bytes() const noexcept { return size_ - taken_bytes_.load(std::memory_order_relaxed); }

  // With the lock: lines that are there may be taken, whole lines in their order.
  void look() noexcept { seen_ = count_.load(std::memory_order_acquire); }
  Line const* next_line() const noexcept { return taken_ < seen_ ? &lines_[taken_] : nullptr; }
  std::string_view take_line() noexcept { return take_until(taken_ + 1); }
  std::string_view take_all() noexcept { return take_until(seen_); }

  // With the lock, by the adding thread: room for as much, and for `most` where it gets bigger. False where memory ran out.
  bool make_room(std::size_t bytes, std::size_t most) noexcept;

 private:
  std::string_view take_until(std::size_t count) noexcept {
    std::size_t const begin = taken_bytes_.load(std::memory_order_relaxed);
    std::size_t const end = count == 0 ? 0 : lines_[count - 1].end;
    taken_ = count;
    taken_bytes_.store(end, std::memory_order_relaxed);
    return {text_.get() + begin, end - begin};
  }

  std::unique_ptr<char[]> text_;
  std::unique_ptr<Line[]> lines_;
  std::size_t capacity_ = 0;
  std::size_t most_lines_ = 0;
  std::size_t size_ = 0;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> taken_bytes_{0};
  std::size_t taken_ = 0;
  std::size_t seen_ = 0;
};

// Each thread makes its lines and keeps them until they are many or old. Then those of all are written in the order of time, so
// that threads meet only for that. Thread-safe.
class FoldedLines {
 public:
  // What `file` lacks is counted, where the writer writes to one.
  static std::shared_ptr<FoldedLines> make(WriterPtr writer, FlameOptions const& options,
                                           std::shared_ptr<FdSink const> file = nullptr);

  void enter(SpanRef span, Context const& context) noexcept;
  void exit(SpanRef span, Context const& context) noexcept { add(span, true, context); }
  void flush() noexcept;
  void write_at_once() noexcept;
  std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed) + (file_ == nullptr ? 0 : file_->missing_lines());
  }

 private:
  friend struct Abandoned;
  using Lock = std::unique_lock<std::mutex>;
  // By the processor's counter, by the system's clock, or both: zero where it is not known.
  struct Moment {
    std::uint64_t ticks = 0;
    Instant instant{};
  };
  struct OfTrack {
    FoldedStack stack;
    Moment last;
    WaitingLines lines;
    std::uint64_t waiting_ns = 0;  // how long the first of them has waited
    OfTrack* next = nullptr;
    OfTrack* next_with_lines = nullptr;  // guarded by mutex_
  };

  FoldedLines(WriterPtr writer, FlameOptions const& options, std::shared_ptr<FdSink const> file);
  ~FoldedLines() = default;
  bool is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

  // Time has passed in `span`, for which a line is to be made unless `is_wanted` says no.
  void add(SpanRef span, bool is_wanted, Context const& context) noexcept;
  OfTrack* find(Track const& track, Lock& lock) noexcept;
  static std::uint64_t ns_by_instants(Moment const& begin, Moment const& end) noexcept;
  void add_line(OfTrack& track, std::uint64_t ns, std::uint64_t ticks, Lock& lock) noexcept;
  char* make_room(OfTrack& track, std::size_t bytes, Lock& lock) noexcept;
  void write_out(Lock& lock) noexcept;
  void write_merged(OfTrack* first) noexcept;
  void write(std::string_view lines) noexcept;
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

  WriterPtr const writer_;
  std::shared_ptr<FdSink const> const file_;  // which it writes to, or null
  FlameOptions const options_;
  std::atomic<std::size_t> buffered_bytes_;  // of each track
  Moment const start_;
  unsigned const forks_when_made_;
  FoldedLines* next_abandoned_ = nullptr;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;  // whoever has it may write, add lines to tracks that are no thread's own, and make new ones
  ByTrack<OfTrack> tracks_;
  TextBuffer merged_;  // lines of several tracks, guarded by mutex_
};

}  // namespace tracing::inline v1::internal
