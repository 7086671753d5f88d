// Nothing here may allocate or lock.
#include "tracing_core/record/dying_reader.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "tracing_core/record/head_copy.h"
#include "tracing_core/record/racing_copy.h"

namespace tracing::inline v1::internal {
namespace {

unsigned references_of(RecordHead const& head) noexcept {
  bool const is_explicit = (head.flags & kParentMask) == 2;
  switch (head.type) {
    case RecordType::state: return 3;
    case RecordType::new_span: return is_explicit ? 2 : 1;
    case RecordType::event: return is_explicit ? 1 : 0;
    case RecordType::follows_from: return 2;
    case RecordType::enter:
    case RecordType::exit:
    case RecordType::close:
    case RecordType::values:
    case RecordType::timed: return 1;
    default: return 0;
  }
}

bool is_foreign(RecordHead const& head) noexcept { return (head.flags & kForeign) != 0; }  // or dated

}  // namespace

// ---- chunks ----

void DyingReader::start(RecordStore const& store) noexcept {
  store_ = &store;
  from_ticks_ = 0;
  until_ticks_ = ticks_now();
  track_count_ = 0;
  skips_tracks_ = false;
  now_ = nullptr;
}

void DyingReader::start(RecordStore const& store, std::uint64_t from_ticks) noexcept {
  start(store);
  from_ticks_ = from_ticks;
  Region const& region = store.region();
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head)) continue;
    if (head.last_ticks == 0 || head.last_ticks >= from_ticks) (void)cursor_of(head.track);
  }
  for (std::size_t i = 0; i < track_count_; ++i) {
    cursors_[i].is_at_end = !load_next_chunk(cursors_[i]);
    advance(cursors_[i]);
  }
}

DyingReader::Cursor* DyingReader::cursor_of(std::uint64_t track) noexcept {
  for (std::size_t i = 0; i < track_count_; ++i) {
    if (cursors_[i].track == track) return &cursors_[i];
  }
  if (track_count_ == kMaxTracks) return skips_tracks_ = true, nullptr;
  Cursor& fresh = cursors_[track_count_++];
  fresh.track = track;
  fresh.os_thread = 0;
  fresh.first_record = fresh.first_ticks = 0;
  fresh.name_size = 0;
  return &fresh;
}

// The track's chunk after the present one.
bool DyingReader::load_next_chunk(Cursor& cursor) noexcept {
  Region const& region = store_->region();
  for (;;) {
    std::uint32_t best = Region::kNone;
    std::uint64_t best_ticks = 0;
    for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
      HeadCopy const copy(region.head(i));
      ChunkHead const& head = *copy;
      if (head.track != cursor.track || head.first_ticks <= cursor.first_ticks ||
          head.first_ticks > until_ticks_)
        continue;
      if (head.last_ticks != 0 && head.last_ticks < from_ticks_) continue;
      if (best == Region::kNone || head.first_ticks < best_ticks) best = i, best_ticks = head.first_ticks;
    }
    if (best == Region::kNone) return false;
    cursor.first_ticks = best_ticks;
    if (copy_chunk(cursor, best)) return true;
  }
}

// False if the chunk is given away meanwhile.
bool DyingReader::copy_chunk(Cursor& cursor, std::uint32_t chunk) noexcept {
  Region const& region = store_->region();
  HeadCopy const copy(region.head(chunk));
  ChunkHead const& head = *copy;
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  if (generation == 0 || generation % 2 != 0) return false;
  cursor.size = std::min<std::size_t>(head.used.load(std::memory_order_relaxed) & ~7u, kChunkBytes);
  cursor.first_record = head.first_record;
  cursor.next_span = head.first_span;
  cursor.tag = head.tag;
  cursor.thread = head.track;
  cursor.at = cursor.next = cursor.depth = cursor.found_count = 0;
  cursor.has_later_values = false;
  copy_racing(region.chunk(chunk), cursor.bytes, cursor.size);
  std::atomic_thread_fence(std::memory_order_acquire);
  bool const is_same = region.head(chunk).generation.load(std::memory_order_relaxed) == generation;
  return is_same && head.first_ticks == cursor.first_ticks;
}

RecordHead DyingReader::head_at(Cursor const& cursor, std::size_t at) noexcept {
  RecordHead head{};
  if (at + sizeof(head) <= cursor.size) std::memcpy(&head, cursor.bytes + at, sizeof(head));
  return head;
}

// Goes to the next event of the track.
void DyingReader::advance(Cursor& cursor) noexcept {
  while (!cursor.is_at_end) {
    RecordHead const head = head_at(cursor, cursor.next);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(head) || bytes > cursor.size - cursor.next) {
      cursor.is_at_end = !load_next_chunk(cursor);
      continue;
    }
    cursor.at = cursor.next;
    cursor.next += bytes;
    cursor.event_ticks = cursor.first_ticks + head.ticks;
    if (cursor.event_ticks > until_ticks_ && (head.flags & kRestated) == 0) {
      cursor.is_at_end = true;
      return;
    }
    if (head.type == RecordType::event && cursor.event_ticks >= from_ticks_) return;
    apply(cursor, head);
  }
}

void DyingReader::apply(Cursor& cursor, RecordHead const& head) noexcept {
  std::uint64_t const innermost = cursor.depth == 0 ? 0 : cursor.stack[std::min(cursor.depth, std::size(cursor.stack)) - 1];
  auto const push = [&cursor](std::uint64_t key) {
    if (cursor.depth < std::size(cursor.stack)) cursor.stack[cursor.depth] = key;
    ++cursor.depth;
  };
  foreign_track_ = 0;
  std::uint64_t const named = references_of(head) > 0 ? reference(cursor, cursor.at, 0) : 0;
  bool const is_of_other_track = foreign_track_ != 0 && foreign_track_ != cursor.thread;
  bool const is_contextual = (head.flags & kParentMask) == 0 && !is_of_other_track;
  switch (head.type) {
    case RecordType::tag: cursor.tag = head.site; break;
    case RecordType::track:
    case RecordType::thread: {
      if (is_foreign(head)) break;
      ValueReader content({cursor.bytes + cursor.at + sizeof(head), std::size_t{head.words} * 8 - sizeof(head)});
      if (head.type == RecordType::thread) {
        cursor.thread = content.take_word();
        cursor.depth = 0;  // the thread before has ended
      }
      cursor.os_thread = static_cast<std::int64_t>(content.take_word());
      std::string_view const name = content.take(std::min<std::size_t>(content.take_word(), sizeof(cursor.name)));
      cursor.name_size = name.copy(cursor.name, sizeof(cursor.name));
      break;
    }
    case RecordType::scope_begin:
      add_span(cursor, make_span_key(cursor.track, cursor.next_span), innermost, cursor.tag);
      push(make_span_key(cursor.track, cursor.next_span++));
      break;
    case RecordType::scope_end:
      if (cursor.depth > 0) --cursor.depth;
      break;
    case RecordType::new_span: {
      bool const is_explicit = (head.flags & kParentMask) == 2;
      std::uint64_t const around = is_contextual ? innermost : 0;
      add_span(cursor, named, is_explicit ? reference(cursor, cursor.at, 1) : around,
               cursor.tag);
      ++cursor.next_span;
      break;
    }
    case RecordType::state:
      add_span(cursor, named, reference(cursor, cursor.at, 1),
               static_cast<std::uint32_t>(reference(cursor, cursor.at, 2)));
      if ((head.flags & kEntered) != 0) push(named);
      break;
    case RecordType::enter:
      if (!is_of_other_track) push(named);
      break;
    case RecordType::exit: {
      std::uint64_t* const end = cursor.stack + std::min(cursor.depth, std::size(cursor.stack));
      std::uint64_t* const found = std::find(cursor.stack, end, named);
      if (is_of_other_track || found == end) break;
      std::copy(found + 1, end, found);
      --cursor.depth;
      break;
    }
    case RecordType::values: cursor.has_later_values = true; break;
    default: break;
  }
}

void DyingReader::add_span(Cursor& cursor, std::uint64_t key, std::uint64_t parent, std::uint32_t tag) noexcept {
  if (cursor.found_count == std::size(cursor.found)) return;
  cursor.found[cursor.found_count++] = {key, parent, tag, static_cast<std::uint32_t>(cursor.at)};
}

// ---- records ----

bool DyingReader::find_site(Cursor const& cursor, std::uint32_t site, Room& room) noexcept {
  room.metadata = site < kLocalSite ? store_->sites().of_number(site) : nullptr;
  if (site < kLocalSite) return room.metadata != nullptr;
  for (std::size_t at = 0; at < cursor.next;) {
    RecordHead const head = head_at(cursor, at);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(head)) return false;
    if (head.type == RecordType::site && head.site == site) {
      MetadataParts parts;
      std::string_view file;
      std::string_view const content(cursor.bytes + at + sizeof(head), bytes - sizeof(head));
      if (!read_site(content, {room.fields, room.placeholders}, parts, file)) return false;
      room.metadata = new (room.local) Metadata(parts);
      return true;
    }
    at += bytes;
  }
  return false;
}

bool DyingReader::skip_to_references(Cursor const& cursor, std::size_t at, Room& room, ValueReader& content,
                                     std::string_view& more_kinds) noexcept {
  RecordHead const head = head_at(cursor, at);
  content = ValueReader({cursor.bytes + at + sizeof(head), std::size_t{head.words} * 8 - sizeof(head)});
  if (!find_site(cursor, head.site, room)) return false;
  std::size_t const count = (head.flags & kHasValues) != 0 ? room.metadata->parts().value_count : 0;
  more_kinds = content.take(count > kInlineKinds ? padded_to_word(count - kInlineKinds) : 0);
  if (is_foreign(head)) {
    foreign_track_ = content.take_word();
    (void)content.take_word();
  }
  return true;
}

std::uint64_t DyingReader::reference(Cursor const& cursor, std::size_t at, unsigned index) noexcept {
  ValueReader content;
  std::string_view more_kinds;
  if (!skip_to_references(cursor, at, reference_room_, content, more_kinds)) return 0;
  for (unsigned i = 0; i < index; ++i) (void)content.take_word();
  return content.take_word();
}

bool DyingReader::read_values(Cursor const& cursor, std::size_t at, Room& room) noexcept {
  ValueReader content;
  std::string_view more_kinds;
  if (!skip_to_references(cursor, at, room, content, more_kinds)) return false;
  RecordHead const head = head_at(cursor, at);
  for (unsigned i = 0; i < references_of(head); ++i) (void)content.take_word();
  std::size_t const count = room.metadata->parts().value_count;
  for (std::size_t i = 0; i < count; ++i) {
    Value& value = *new (room.values() + i) Value();
    if ((head.flags & kHasValues) == 0) continue;
    std::uint32_t whole_size = 0;
    value = content.take_value(i < kInlineKinds ? head.kinds[i] : static_cast<std::uint8_t>(more_kinds[i - kInlineKinds]),
                               whole_size);
  }
  return content.error() == nullptr;
}

bool DyingReader::next() noexcept {
  for (;;) {
    if (now_ != nullptr) advance(*now_);
    now_ = nullptr;
    for (std::size_t i = 0; i < track_count_; ++i) {
      Cursor& cursor = cursors_[i];
      if (!cursor.is_at_end && (now_ == nullptr || cursor.event_ticks < now_->event_ticks)) now_ = &cursor;
    }
    if (now_ == nullptr) return false;
    if (read_event()) return true;
  }
}

bool DyingReader::read_event() noexcept {
  Cursor const& cursor = *now_;
  event_ = head_at(cursor, cursor.at);
  foreign_track_ = 0;
  if (!read_values(cursor, cursor.at, event_room_)) return false;
  bool const is_own = foreign_track_ == 0 || foreign_track_ == cursor.thread;
  bool const is_contextual = (event_.flags & kParentMask) == 0 && is_own && cursor.depth > 0;
  std::uint64_t key = is_contextual ? cursor.stack[std::min(cursor.depth, std::size(cursor.stack)) - 1] : 0;
  if ((event_.flags & kParentMask) == 2) key = reference(cursor, cursor.at, 0);
  depth_ = 0;
  has_more_spans_ = false;
  while (key != 0) {
    Found const* const found = find_span(cursor, key);
    if (found == nullptr) break;
    has_more_spans_ = depth_ == kMaxDepth;
    if (has_more_spans_) break;
    path_[depth_++] = found;
    key = found->parent;
  }
  return true;
}

// The last description of it.
DyingReader::Found const* DyingReader::find_span(Cursor const& cursor, std::uint64_t key) const noexcept {
  Found const* found = cursor.found + cursor.found_count;
  while (found != cursor.found && found[-1].key != key) --found;
  return found == cursor.found ? nullptr : found - 1;
}

// Before each text are its size and that of the whole.
std::size_t DyingReader::whole_size(std::string_view text) const noexcept {
  std::uint32_t sizes[2] = {};
  std::less<> const before;
  if (before(text.data(), now_->bytes + sizeof(sizes)) || before(now_->bytes + now_->size, text.data()))
    return text.size();
  std::memcpy(sizes, text.data() - sizeof(sizes), sizeof(sizes));
  return sizes[0] == text.size() ? std::max<std::size_t>(sizes[1], text.size()) : text.size();
}

Track DyingReader::track() const noexcept {
  if (foreign_track_ != 0 && foreign_track_ != now_->thread) return {foreign_track_, {}};
  return {now_->thread, {now_->name, now_->name_size}};
}

Metadata const& DyingReader::span(std::size_t index) noexcept {
  (void)find_site(*now_, head_at(*now_, path_[index]->offset).site, span_room_);
  return *span_room_.metadata;
}

}  // namespace tracing::inline v1::internal
