#include "tracing_core/export/flame_lines.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/internal/barriers.h"
#include "tracing_core/internal/digits.h"
#include "tracing_core/internal/span_clock.h"

namespace tracing::inline v1::internal {
namespace {

// A thread that goes on writes what has waited for so long: where a signal ends the process, no more is missing.
constexpr std::uint64_t kMostAgeNs = 100'000'000;

// What a writer is told about a block of lines.
constexpr char kBlockText[] = "flametracing::flame";
constexpr Metadata kBlock([] {
  MetadataParts parts;
  parts.text = kBlockText;
  parts.name_size = 5;
  parts.target_size = sizeof(kBlockText) - 1 - parts.name_size;
  parts.level = Level::info;
  return parts;
}());

}  // namespace

// ---- WaitingLines ----

bool WaitingLines::make_room(std::size_t bytes, std::size_t most) noexcept {
  constexpr std::size_t kFirstBytes = 4096;
  constexpr std::size_t kUsualBytesOfALine = 32;
  std::size_t const count = count_.load(std::memory_order_relaxed) - taken_;
  std::size_t const begin = taken_bytes_.load(std::memory_order_relaxed);
  std::size_t const size = size_ - begin;
  if (capacity_ - size < bytes || count >= most_lines_) {
    std::size_t const bigger = std::max(size + bytes, std::min(most, std::max(capacity_ * 2, kFirstBytes)));
    std::size_t const more_lines = std::max(count * 2, bigger / kUsualBytesOfALine + 1);
    std::unique_ptr<char[]> text(new (std::nothrow) char[bigger]);
    std::unique_ptr<Line[]> lines(new (std::nothrow) Line[more_lines]);
    if (text == nullptr || lines == nullptr) return false;
    if (count != 0) {
      std::memcpy(text.get(), text_.get() + begin, size);
      std::copy_n(lines_.get() + taken_, count, lines.get());
    }
    text_ = std::move(text);
    lines_ = std::move(lines);
    capacity_ = bigger;
    most_lines_ = more_lines;
  } else if (count != 0) {
    std::memmove(text_.get(), text_.get() + begin, size);
    std::copy_n(lines_.get() + taken_, count, lines_.get());
  }
  for (std::size_t i = 0; i < count; ++i) lines_[i].end -= begin;
  size_ = size;
  taken_ = 0;
  taken_bytes_.store(0, std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  return true;
}

// ---- FoldedLines ----

std::shared_ptr<FoldedLines> FoldedLines::make(WriterPtr writer, FlameOptions const& options,
                                               std::shared_ptr<FdSink const> file) {
  count_forks();
  start_span_clock();
  prepare_barriers();
  return {new FoldedLines(std::move(writer), options, std::move(file)), Abandoned::let_go<FoldedLines>};
}

FoldedLines::FoldedLines(WriterPtr writer, FlameOptions const& options, std::shared_ptr<FdSink const> file)
    : writer_(std::move(writer)),
      file_(std::move(file)),
      options_(options),
      buffered_bytes_(options.buffered_bytes),
      start_{ticks_now(), Instant::now()},
      forks_when_made_(fork_count()) {}

void FoldedLines::enter(SpanRef span, Context const& context) noexcept {
  SpanRef const parent = span.parent();
  add(parent, parent || options_.empty_samples, context);
}

void FoldedLines::add(SpanRef span, bool is_wanted, Context const& context) noexcept {
  if (is_in_forked_child()) return;
  std::uint64_t const ticks = ticks_now();  // before it waits for others
  Moment const now = context.is_dated() ? Moment{0, context.time()} : Moment{ticks, {}};
  Lock lock(mutex_, std::defer_lock);
  Track const& named = context.track();
  OfTrack* track = tracks_.own(named);
  if (track == nullptr || track->stack.track_number() != named.number) [[unlikely]] track = find(named, lock);
  if (track == nullptr) [[unlikely]] return count_dropped();
  bool const by_ticks = track->last.ticks != 0 && now.ticks != 0;
  std::uint64_t const ns = by_ticks ? ns_between(track->last.ticks, now.ticks) : ns_by_instants(track->last, now);
  track->last = now;
  track->waiting_ns += ns;
  if (!is_wanted || context.is_restored()) return;
  if (!track->stack.go_to(span, options_)) [[unlikely]] return count_dropped();
  add_line(*track, ns, ticks, lock);
}

// Null where memory ran out. Keeps the lock where the track is not the thread's own.
FoldedLines::OfTrack* FoldedLines::find(Track const& track, Lock& lock) noexcept {
  lock.lock();
  try {
    OfTrack& found = tracks_.find(track);
    // A thread that ended makes room for another one.
    if (found.stack.track_number() != track.number) {
      found.stack.start(track, options_);
      found.last = start_;
    }
    if (is_own_track(track)) lock.unlock();
    return &found;
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

std::uint64_t FoldedLines::ns_by_instants(Moment const& begin, Moment const& end) noexcept {
  auto const instant_of = [](Moment const& moment) {
    if (moment.instant) return moment.instant.ns;
    return Instant::now().ns - static_cast<std::int64_t>(ns_between(moment.ticks, ticks_now()));
  };
  std::int64_t const ns = instant_of(end) - instant_of(begin);
  return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;  // the system's clock may be set back
}

void FoldedLines::add_line(OfTrack& track, std::uint64_t ns, std::uint64_t ticks, Lock& lock) noexcept {
  std::string_view const text = track.stack.text();
  std::size_t const most = text.size() + 2 + kMostUintDigits;
  std::size_t const buffered = buffered_bytes_.load(std::memory_order_relaxed);
  std::size_t const waiting = track.lines.bytes();
  if (waiting == 0) track.waiting_ns = 0;
  char* at = waiting + most <= buffered ? track.lines.reserve(most) : nullptr;
  if (at == nullptr) [[unlikely]] at = make_room(track, most, lock);
  if (at == nullptr) [[unlikely]] return count_dropped();
  char const* const begin = at;
  std::memcpy(at, text.data(), text.size());
  at += text.size();
  *at++ = ' ';
  at = write_uint(at, ns);
  *at++ = '\n';
  track.lines.commit(static_cast<std::size_t>(at - begin), ticks);
  // The guard may be gone since: then either it has found this line, or this finds that no line may wait.
  light_barrier();
  bool const may_wait = track.lines.bytes() < buffered_bytes_.load(std::memory_order_relaxed);
  if (!may_wait || track.waiting_ns > kMostAgeNs) [[unlikely]] write_out(lock);
}

char* FoldedLines::make_room(OfTrack& track, std::size_t bytes, Lock& lock) noexcept {
  if (!lock.owns_lock()) lock.lock();
  std::size_t const buffered = buffered_bytes_.load(std::memory_order_relaxed);
  if (track.lines.bytes() + bytes > buffered) write_out(lock);
  return track.lines.make_room(bytes, buffered) ? track.lines.reserve(bytes) : nullptr;
}

void FoldedLines::write_out(Lock& lock) noexcept {
  if (!lock.owns_lock()) lock.lock();
  OfTrack* first = nullptr;
  for (OfTrack* track = tracks_.first(); track != nullptr; track = track->next) {
    track->lines.look();
    if (track->lines.next_line() == nullptr) continue;
    track->next_with_lines = first;
    first = track;
  }
  if (first == nullptr) return;
  if (first->next_with_lines != nullptr) return write_merged(first);
  write(first->lines.take_all());
}

void FoldedLines::write_merged(OfTrack* first) noexcept {
  std::size_t const buffered = buffered_bytes_.load(std::memory_order_relaxed);
  for (;;) {
    OfTrack* oldest = nullptr;
    for (OfTrack* track = first; track != nullptr; track = track->next_with_lines) {
      WaitingLines::Line const* const line = track->lines.next_line();
      if (line != nullptr && (oldest == nullptr || line->ticks < oldest->lines.next_line()->ticks)) oldest = track;
    }
    if (oldest == nullptr) break;
    std::string_view const line = oldest->lines.take_line();
    if (!merged_.empty() && merged_.size() + line.size() > buffered) write(merged_.view()), merged_.clear();
    merged_.append(line);
    if (merged_.truncated()) count_dropped(), merged_.clear();
  }
  write(merged_.view());
  merged_.clear();
}

void FoldedLines::write(std::string_view lines) noexcept {
  if (lines.empty()) return;
  int const saved = errno;
  {
    WithoutSignal signal(SIGXFSZ);
    writer_->write({kBlock, lines, {}});
    signal.take();
  }
  errno = saved;
}

void FoldedLines::flush() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;  // what the writer emits would wait for the lock that it is called under
  Lock lock(mutex_);
  write_out(lock);
  writer_->flush();
}

void FoldedLines::write_at_once() noexcept {
  buffered_bytes_.store(0, std::memory_order_relaxed);
  heavy_barrier();
  flush();
}

}  // namespace tracing::inline v1::internal
