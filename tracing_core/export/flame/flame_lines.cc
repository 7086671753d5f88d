#include "tracing_core/export/flame/flame_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/support/digits.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// A thread writes its lines when they have waited this long, so that no older lines are lost if a signal ends the
// process.
constexpr std::uint64_t kMaxWaitingNs = 100'000'000;

// The metadata of a block of lines.
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

bool WaitingLines::restart(std::size_t capacity) noexcept {
  if (capacity_ < capacity) {
    std::unique_ptr<char[]> text(new (std::nothrow) char[capacity]);
    if (text == nullptr) return false;
    text_ = std::move(text);
    capacity_ = capacity;
  }
  size_.store(0, std::memory_order_relaxed);
  taken_.store(0, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<FoldedLines> FoldedLines::make(WriterPtr writer, FlameOptions const& options,
                                               std::shared_ptr<FdSink const> file, Instant start) {
  start_span_clock();
  Moment const from = start ? Moment{0, start} : Moment{ticks_now(), Instant::now()};
  // A forked child leaks the lines: another thread of the parent may have been changing them.
  return {new FoldedLines(std::move(writer), options, std::move(file), from), [](FoldedLines* made) {
            if (!made->is_in_forked_child()) delete made;
          }};
}

FoldedLines::FoldedLines(WriterPtr writer, FlameOptions const& options, std::shared_ptr<FdSink const> file,
                         Moment const& start)
    : writer_(std::move(writer)),
      file_(std::move(file)),
      options_(options),
      buffered_bytes_(options.as_tracing_flame ? 0 : options.buffered_bytes),
      start_(start) {}

void FoldedLines::enter(SpanRef span, Context const& context) noexcept {
  SpanRef const parent = span.parent();
  add(parent, Change::enter, parent || options_.empty_samples, context);
}

void FoldedLines::add(SpanRef span, Change change, bool is_wanted, Context const& context) noexcept {
  if (is_in_forked_child()) return;
  is_wanted = is_wanted && !context.is_restored();
  Moment const now = context.is_dated() ? Moment{0, context.time()} : Moment{ticks_now(), {}};
  Track const& named = context.track();
  TrackLines* const own = tracks_.own(named);
  if (own != nullptr && own->stack.track_number() == named.number) [[likely]] {
    return add_to(*own, span, change, is_wanted, now);
  }
  MutexLock const lock(others_mutex_);
  TrackLines* const track = find(named);
  if (track == nullptr) [[unlikely]]
    return count_dropped();
  add_to(*track, span, change, is_wanted, now);
}

void FoldedLines::add_to(TrackLines& track, SpanRef span, Change change, bool is_wanted, Moment const& now) noexcept {
  bool const by_ticks = track.last.ticks != 0 && now.ticks != 0;
  std::uint64_t const ns = by_ticks ? ns_between(track.last.ticks, now.ticks) : ns_by_instants(track.last, now);
  Moment const before = std::exchange(track.last, now);
  bool const has_stack = is_wanted && track.stack.go_to(span, options_);
  if (has_stack && stays_left_out(track.stack.depth(), change)) [[unlikely]] {
    track.last = before;
    return;
  }
  track.waiting_ns += ns;
  if (has_stack) [[likely]]
    return add_line(track, ns);
  if (is_wanted) [[unlikely]]
    count_dropped();
  if (track.waiting_ns > kMaxWaitingNs && track.lines.bytes() > 0) [[unlikely]]
    write_waiting(track);
}

void FoldedLines::write_waiting(TrackLines& track) noexcept {
  MutexLock const lock(mutex_);
  write(track.lines.take());
}

// Returns true if the thread goes from one span that is left out of the text to another: one line has the time of all
// such spans.
bool FoldedLines::stays_left_out(std::size_t depth, Change change) const noexcept {
  if (depth <= options_.max_frames || options_.as_tracing_flame) [[likely]]
    return false;
  return change == Change::enter || depth - 1 > options_.max_frames;
}

// Finds or adds the lines of a track. Returns null if memory ran out.
FoldedLines::TrackLines* FoldedLines::find(Track const& track) noexcept {
  MutexLock const lock(mutex_);
  try {
    TrackLines& found = tracks_.find(track);
    // The object may be left over from another thread, which has ended.
    if (!found.stack.is_of(track)) {
      found.stack.start(track, options_);
      found.last = start_;
    }
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
  std::int64_t const from = instant_of(begin), to = instant_of(end);
  // The system's clock may be set back.
  return to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 0;
}

void FoldedLines::add_line(TrackLines& track, std::uint64_t ns) noexcept {
  std::string_view const text = track.stack.text();
  std::size_t const max_bytes = text.size() + 2 + kMaxUintDigits;
  std::size_t const buffered = buffered_bytes_.load(std::memory_order_relaxed);
  std::size_t const waiting = track.lines.bytes();
  if (waiting == 0) track.waiting_ns = 0;
  char* at = waiting + max_bytes <= buffered ? track.lines.reserve(max_bytes) : nullptr;
  if (at == nullptr) [[unlikely]]
    at = make_room(track, max_bytes);
  if (at == nullptr) [[unlikely]]
    return count_dropped();
  char const* const begin = at;
  std::memcpy(at, text.data(), text.size());
  at += text.size();
  *at++ = ' ';
  at = write_uint(at, ns);
  *at++ = '\n';
  track.lines.commit(static_cast<std::size_t>(at - begin));
  if (track.lines.bytes() >= buffered || track.waiting_ns > kMaxWaitingNs) [[unlikely]]
    write_waiting(track);
}

char* FoldedLines::make_room(TrackLines& track, std::size_t bytes) noexcept {
  MutexLock const lock(mutex_);
  write(track.lines.take());
  std::size_t const capacity = std::max(bytes, buffered_bytes_.load(std::memory_order_relaxed));
  return track.lines.restart(capacity) ? track.lines.reserve(bytes) : nullptr;
}

void FoldedLines::write(std::string_view lines) noexcept {
  if (lines.empty()) return;
  int const saved = errno;
  writer_->write({kBlock, lines, {}});
  errno = saved;
}

void FoldedLines::flush() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;  // a record that the writer emits would wait for the lock that its caller holds
  MutexLock const lock(mutex_);
  for (TrackLines* track = tracks_.first(); track != nullptr; track = track->next) write(track->lines.take());
  writer_->flush();
}

void FoldedLines::stop_buffering() noexcept {
  buffered_bytes_.store(0, std::memory_order_relaxed);
  flush();
}

}}}  // namespace tracing::v1::internal
