// Nothing here may allocate or lock.
#include "tracing_core/record/decode/crash_reader.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "tracing_core/record/decode/head_copy.h"
#include "tracing_core/record/ring/racing_copy.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

// ---- chunks ----

static bool is_published_generation(std::uint64_t generation) noexcept {
  return generation != 0 && generation % 2 == 0;
}

void CrashReader::start(RecordStore const& store) noexcept {
  store_ = &store;
  from_ticks_ = 0;
  until_ticks_ = ticks_now();
  track_count_ = 0;
  skips_tracks_ = false;
  now_ = nullptr;
}

void CrashReader::start(RecordStore const& store, std::uint64_t from_ticks) noexcept {
  start(store);
  from_ticks_ = from_ticks;
  Region const& region = store.region();
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head)) continue;
    if (head.last_ticks == 0 || head.last_ticks >= from_ticks) add_cursor(head.track);
  }
  for (std::size_t i = 0; i < track_count_; ++i) {
    cursor(i).is_at_end = !load_next_chunk(cursor(i));
    advance(cursor(i));
  }
}

void CrashReader::add_cursor(std::uint64_t track) noexcept {
  for (std::size_t i = 0; i < track_count_; ++i) {
    if (cursor(i).track == track) return;
  }
  skips_tracks_ |= track_count_ == kMaxTracks;
  if (track_count_ == kMaxTracks) return;
  new (&slots_[track_count_].cursor) Cursor(track, decoder_room_);
  cursor(track_count_++).chunk.first_ticks = 0;
}

// Goes to the track's chunk after the present one.
bool CrashReader::load_next_chunk(Cursor& cursor) noexcept {
  Region const& region = store_->region();
  for (;;) {
    std::uint32_t best = Region::kNone;
    std::uint64_t best_ticks = 0;
    bool is_published = false;
    for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
      HeadCopy const copy(region.head(i));
      ChunkHead const& head = *copy;
      if (head.track != cursor.track || head.first_ticks <= cursor.chunk.first_ticks || head.first_ticks > until_ticks_)
        continue;
      if (head.last_ticks != 0 && head.last_ticks < from_ticks_) continue;
      if (best != Region::kNone && head.first_ticks >= best_ticks) continue;
      best = i;
      best_ticks = head.first_ticks;
      is_published = is_published_generation(head.generation.load(std::memory_order_relaxed));
    }
    if (best == Region::kNone) return false;
    cursor.chunk.first_ticks = best_ticks;
    // The track's thread is beginning this chunk: it is still in the spans of the chunk before.
    if (!is_published) continue;
    // Each chunk stands alone: its spans fit into the stack, however deep the track is in spans.
    cursor.decoder.forget_spans();
    cursor.found_count = 0;
    cursor.has_later_values = false;
    if (copy_chunk(cursor.chunk, best)) break;
    cursor.chunk.size = 0;
  }
  ChunkCopy const& chunk = cursor.chunk;
  cursor.decoder.begin({.bytes = chunk.from(0),
                        .first_ticks = chunk.first_ticks,
                        .first_record = chunk.first_record,
                        .first_span = chunk.first_span,
                        .tag = chunk.tag},
                       {});
  return true;
}

// Returns false if the chunk changes hands meanwhile.
bool CrashReader::copy_chunk(ChunkCopy& to, std::uint32_t chunk) noexcept {
  Region const& region = store_->region();
  HeadCopy const copy(region.head(chunk));
  ChunkHead const& head = *copy;
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  if (!is_published_generation(generation)) return false;
  to.size = std::min<std::size_t>(head.used.load(std::memory_order_relaxed) & ~7u, kChunkBytes);
  to.first_record = head.first_record;
  to.first_span = head.first_span;
  to.tag = head.tag;
  copy_racing(region.chunk(chunk), to.bytes, to.size);
  std::atomic_thread_fence(std::memory_order_acquire);
  bool const is_same = region.head(chunk).generation.load(std::memory_order_relaxed) == generation;
  return is_same && head.first_ticks == to.first_ticks;
}

// Goes to the next event of the track.
void CrashReader::advance(Cursor& cursor) noexcept {
  while (!cursor.is_at_end) {
    RecordHead const head = cursor.chunk.head_at(cursor.decoder.next_at());
    if (cursor.chunk.first_ticks + head.ticks > until_ticks_ && (head.flags & kRestated) == 0) {
      cursor.is_at_end = true;
      return;
    }
    decoder_room_.look_at(*store_, cursor.chunk);
    if (!cursor.decoder.next(cursor.record)) {
      cursor.is_at_end = !load_next_chunk(cursor);
      continue;
    }
    if (head.type == RecordType::event && cursor.record.ticks >= from_ticks_) return;
    learn(cursor);
  }
}

void CrashReader::learn(Cursor& cursor) noexcept {
  Entry const& record = cursor.record;
  bool const is_state = record.type == RecordType::state;
  if ((is_state || begins_span(record.type)) && cursor.found_count < std::size(cursor.found))
    cursor.found[cursor.found_count++] = {record.span, record.parent, is_state ? record.span_tag : record.tag,
                                          static_cast<std::uint32_t>(cursor.decoder.at())};
  cursor.has_later_values |= record.type == RecordType::values;
  if (!cursor.decoder.describes_writer()) return;
  DescribedThread const& thread = cursor.decoder.described_thread();
  cursor.os_thread = thread.os_thread;
  cursor.name_size = thread.name.copy(cursor.name, sizeof(cursor.name));
}

// ---- records ----

Metadata const* CrashReader::Room::find(std::uint32_t number) noexcept {
  if (number < kLocalSite) return store->sites().of_number(number);
  for (std::size_t at = 0; at < chunk->size;) {
    RecordHead const head = chunk->head_at(at);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(head) || bytes > chunk->size - at) break;
    if (head.type == RecordType::site && head.site == number) {
      MetadataParts parts;
      std::string_view file;
      std::string_view const content(chunk->bytes + at + sizeof(head), bytes - sizeof(head));
      return read_site(content, {fields, placeholders}, parts, file) ? new (local) Metadata(parts) : nullptr;
    }
    at += bytes;
  }
  return nullptr;
}

// Returns false if the record at this place makes no sense.
bool CrashReader::read_values(Cursor const& cursor, std::size_t at, Room& room) noexcept {
  room.look_at(*store_, cursor.chunk);
  pieces_.read(cursor.chunk.from(at), room);
  if (pieces_.error != nullptr) return false;
  room.metadata = pieces_.metadata;
  if (room.metadata == nullptr) return true;
  for (std::size_t i = 0; i < room.metadata->parts().value_count; ++i) new (room.values() + i) Value();
  return pieces_.for_each_value(
             [&room](std::size_t i, Value const& value, std::uint32_t) { room.values()[i] = value; }) == nullptr;
}

bool CrashReader::next() noexcept {
  for (;;) {
    if (now_ != nullptr) advance(*now_);
    now_ = nullptr;
    for (std::size_t i = 0; i < track_count_; ++i) {
      Cursor& at = cursor(i);
      if (!at.is_at_end && (now_ == nullptr || at.record.ticks < now_->record.ticks)) now_ = &at;
    }
    if (now_ == nullptr) return false;
    if (read_event()) return true;
  }
}

bool CrashReader::read_event() noexcept {
  Cursor& cursor = *now_;
  if (!read_values(cursor, cursor.decoder.at(), event_room_)) return false;
  cursor.values_until = cursor.decoder.at();
  depth_ = 0;
  has_more_spans_ = false;
  for (std::uint64_t key = cursor.record.span; key != 0; key = path_[depth_ - 1]->parent) {
    Found const* const found = find_span(cursor, key);
    if (found == nullptr) break;
    has_more_spans_ = depth_ == kMaxDepth;
    if (has_more_spans_) break;
    path_[depth_++] = found;
  }
  return true;
}

// The last description of the span.
CrashReader::Found const* CrashReader::find_span(Cursor const& cursor, std::uint64_t key) const noexcept {
  Found const* found = cursor.found + cursor.found_count;
  while (found != cursor.found && found[-1].key != key) --found;
  return found == cursor.found ? nullptr : found - 1;
}

// Each text is preceded by its size and the size of the whole text.
std::size_t CrashReader::whole_size(std::string_view text) const noexcept {
  std::uint32_t sizes[2] = {};
  std::less<> const before;
  ChunkCopy const& chunk = now_->chunk;
  if (before(text.data(), chunk.bytes + sizeof(sizes)) || before(chunk.bytes + chunk.size, text.data()))
    return text.size();
  std::memcpy(sizes, text.data() - sizeof(sizes), sizeof(sizes));
  return sizes[0] == text.size() ? std::max<std::size_t>(sizes[1], text.size()) : text.size();
}

Track CrashReader::track() const noexcept {
  Entry const& record = now_->record;
  if (record.track != record.writer) return {record.track, {}};
  return {record.writer, {now_->name, now_->name_size}};
}

Metadata const& CrashReader::span(std::size_t index) noexcept {
  (void)read_values(*now_, path_[index]->offset, span_room_);
  return *span_room_.metadata;
}

}}}  // namespace tracing::v1::recording
