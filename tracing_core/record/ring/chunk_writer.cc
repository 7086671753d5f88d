// How a thread writes records that a reader can make sense of after the process has died.
//
// A record must cost some ten nanoseconds, may never wait, and must be readable even if the process dies at the next
// instruction. So each thread appends to a chunk of 16 KiB that it owns, and publishes each record by one release store
// of `used`: a reader sees whole records or does not see them. Nothing is shared until the chunk is full; then the
// writer takes the next chunk from the region and keeps the full one, so that a thread's last records survive however
// much other threads write.
//
// The difficulty is the ring: the previous chunk may be overwritten by the time this chunk is read. So a chunk depends
// on no other chunk. Its head has the numbers of its first record and span, and its first records restate what a reader
// would otherwise need from earlier chunks: the thread, its clock, the spans that the thread is in with their values,
// and callsites that have no number of their own. Restated records have no ordinal, so that a reader with the previous
// chunk can tell what is new, and a reader without it can count what is missing. The text of restated values is cut,
// because the descriptions of deep spans might fill the chunk: half of the chunk is always left for records.
//
// The invariant: between two calls, [chunk, at_) holds complete records, of which the first `used` bytes are published,
// and all that these records refer to is in the chunk or among the numbered callsites. A record that finds no chunk is
// counted, never waited for.
//
// Rejected: one ring for all threads (each record would then pay an atomic operation that others contend for), and
// records that point to earlier records (shorter, but a lost chunk would take others with it).
#include "tracing_core/record/ring/chunk_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/model/stored_values.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// Restated values of spans are cut short, so that the chunk has room for records. They fill at most about half of the
// chunk: a text takes at most half of the room that is left for descriptions, or a few bytes. If there are very many
// spans or values, the last spans or values are left out.
constexpr std::size_t kMaxStateText = 1024;
constexpr std::size_t kMinStateText = 48;
constexpr std::size_t kTextsOfStates = kChunkBytes / 2;
constexpr std::size_t kValuesOfStates = kTextsOfStates + kChunkBytes / 8;

constexpr std::uint8_t kTextKind = static_cast<std::uint8_t>(ValueKind::text);

constexpr std::size_t extra_kinds_bytes(std::size_t values) noexcept {
  return values <= kInlineKinds ? 0 : padded_to_word(values - kInlineKinds);
}

// Writes the size of the stored text, the size of the whole text, and the stored text, padded with zeros.
char* put_text(char* to, std::string_view stored, std::size_t whole_size) noexcept {
  std::uint32_t const sizes[2] = {static_cast<std::uint32_t>(stored.size()), static_cast<std::uint32_t>(whole_size)};
  std::memcpy(to, sizes, 8);
  to += 8;
  std::size_t const bytes = padded_to_word(stored.size());
  if (bytes == 0) return to;
  std::memset(to + bytes - 8, 0, 8);
  std::memcpy(to, stored.data(), stored.size());
  return to + bytes;
}

}  // namespace

void ChunkWriter::take_over(RecordingParts const& parts, std::uint64_t thread, std::int64_t os_thread) noexcept {
  if (parts_ == nullptr) parts.region.add_track();
  parts_ = &parts;
  thread_ = thread;
  os_thread_ = os_thread;
  // A mark belongs to the run, whichever thread makes it.
  bool const has_own_tag = parts.tag_of_thread != nullptr && thread != kMarksTrack;
  tag_source_ = has_own_tag ? parts.tag_of_thread() : &parts.tag;
}

// Many short threads need few chunks if each continues in the chunk of the thread before.
bool ChunkWriter::can_go_on() const noexcept {
  constexpr std::ptrdiff_t kMinRoom = kChunkBytes / 8;
  return head_ != nullptr && end_ - at_ >= kMinRoom;
}

void ChunkWriter::start_afresh() noexcept {
  finish();
  track_ = thread_;
  spans_ = records_ = 0;
  tag_ = next_tag();
}

void ChunkWriter::finish() noexcept {
  leave_chunk();
  if (chunk_ != Region::kNone) parts_->region.give_back(chunk_);
  if (previous_ != Region::kNone) parts_->region.give_back(previous_);
  chunk_ = previous_ = Region::kNone;
  at_ = end_ = nullptr;
}

// Closes the chunk: stores how many records it has and when the track left it.
void ChunkWriter::leave_chunk() noexcept {
  if (head_ == nullptr) return;
  head_->records = static_cast<std::uint32_t>(records_ - head_->first_record);
  head_->last_ticks = ticks_now();
  head_ = nullptr;
}

std::uint32_t ChunkWriter::find_site(Metadata const& metadata) noexcept {
  std::uint64_t const serial = serial_of(metadata);
  if (serial == 0) {
    std::uint32_t const number = parts_->sites.number_of(metadata);
    if (number != 0) {
      sites_[(reinterpret_cast<std::uintptr_t>(&metadata) >> 4) % kCachedSites] = {&metadata, number};
      return number;
    }
  }
  // This chunk describes the callsite: it has no number, or may be gone before the recording is read.
  LocalSite& cached = sites_of_chunk_[serial % kLocalSites];
  if (serial != 0 && cached.serial == serial) return cached.number;
  std::size_t const bytes = size_of_site(metadata);
  if (end_ - at_ < static_cast<std::ptrdiff_t>(bytes)) return 0;
  std::uint32_t const number = kLocalSite | ++local_sites_;
  write_site(at_, metadata, number);
  commit_described(at_ + bytes, kRestated);
  cached = {serial, number};
  return number;
}

// Returns false if the chunk is too old for the record's time to be exact. The first record of a chunk is never
// refused: put() sets max_ticks_ after it.
bool ChunkWriter::stamp(RecordHead& head) noexcept {
  std::uint64_t const ticks = ticks_now() - first_ticks_;
  if (ticks > max_ticks_) return false;
  head.ticks = last_ticks_ = static_cast<std::uint32_t>(ticks);
  return true;
}

// Counts a record that found no room. The next record begins a chunk, whose head has the right numbers.
void ChunkWriter::drop(NewRecord const& record) noexcept {
  leave_chunk();
  at_ = end_;
  ++records_;
  spans_ += begins_span(record.type);
  parts_->region.header().dropped.fetch_add(1, std::memory_order_relaxed);
  parts_->region.count_lost(tag_, 1);
}

// `kIsUsual`: the record has values, and is neither foreign nor a description.
template <bool kIsUsual>
inline bool ChunkWriter::put_short(NewRecord const& record) noexcept {
  Metadata const& metadata = *record.metadata;
  CachedSite const& cached = cached_site(metadata);
  bool const has_values = kIsUsual || record.values != nullptr;
  std::size_t const count = has_values ? metadata.parts().value_count : 0;
  bool const is_other = !kIsUsual && ((record.flags & kForeign) != 0 || describing_ == Describing::start_of_chunk);
  if (cached.metadata != &metadata || count > kMaxFastValues || is_other) return false;
  std::size_t text_room = kMaxFastTexts;
  RecordHead* const head =
      reserve(sizeof(RecordHead) + (1 + record.references.size() + kMaxFastValues) * 8 + text_room);
  if (head == nullptr) return false;
  char* kind_at = begin_kinds(*head);
  char* to = begin_values(*head, count);
  for (unsigned i = 0; i < record.reference_count; ++i) to = put_word(to, record.references[i]);
  for (Value const *value = record.values, *const end = value + count; value != end; ++value) {
    auto const kind = static_cast<std::uint8_t>(value->kind());
    if ((kOneWordKinds >> kind & 1) != 0) {
      to = put_word(to, value->as_u64());
    } else if ((kTextKinds >> kind & 1) != 0 && value->as_text().size() <= text_room) {
      text_room -= padded_to_word(value->as_text().size());
      to = put_text(to, value->as_text(), value->as_text().size());
    } else if (!value->is_empty()) {
      return false;
    }
    std::memcpy(kind_at++, &kind, 1);
  }
  auto const flags = static_cast<std::uint8_t>(record.flags | (has_values ? kHasValues : 0));
  finish_head(*head, record.type, cached.number, flags, to);
  kIsUsual ? commit(to, 0) : commit_described(to, flags);
  return true;
}

// Fast path of append(): the writer knows the callsite, and the values are few numbers and short texts. Not for
// descriptions at the start of a chunk, which cut even short texts. Returns false, and writes nothing, for any other
// record, or if the chunk has little room.
bool ChunkWriter::append_short(NewRecord const& record) noexcept { return put_short<false>(record); }

std::uint64_t ChunkWriter::try_new_span(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
  std::uint64_t const key = next_key();
  if (!append_short({.type = RecordType::new_span,
                     .metadata = &metadata,
                     .values = values,
                     .flags = flags,
                     .reference_count = 1,
                     .references = {key}}))
    return 0;
  ++spans_;
  return key;
}

bool ChunkWriter::put_texts(RecordType type, Metadata const& metadata, Value const* values,
                            std::uint8_t flags) noexcept {
  if (!put_short<true>({.type = type, .metadata = &metadata, .values = values, .flags = flags})) return false;
  if (metadata.level() <= Level::warn) [[unlikely]]
    spare_chunk();
  return true;
}

bool ChunkWriter::put(NewRecord const& record) noexcept {
  if (std::uint32_t const tag = next_tag(); tag != tag_ && !change_tag(tag)) [[unlikely]]
    return false;
  bool const is_there = record.metadata == nullptr ? put_scope_end(record.flags) : append(record);
  if (!is_there) return false;
  max_ticks_ = exact_ticks_;
  spans_ += begins_span(record.type);
  if (record.type == RecordType::event && record.metadata->level() <= Level::warn) [[unlikely]]
    spare_chunk();
  return true;
}

bool ChunkWriter::put_description(NewRecord const& record) noexcept {
  bool const is_there = append(record);
  if (!is_there) left_out_ = true;
  return is_there;
}

bool ChunkWriter::put_scope_end(std::uint8_t flags) noexcept {
  RecordHead head{};
  head.type = RecordType::scope_end;
  head.flags = flags & kByException;
  head.words = sizeof(RecordHead) / 8;
  if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof(head)) || !stamp(head)) return false;
  std::memcpy(at_, &head, sizeof(head));
  commit(at_ + sizeof(head), 0);
  return true;
}

bool ChunkWriter::append_any(NewRecord const& record) noexcept {
  RecordHead head{};
  head.type = record.type;
  head.flags = record.flags | (record.values != nullptr ? kHasValues : 0);
  Metadata const& metadata = *record.metadata;
  std::size_t const value_count = record.values == nullptr ? 0 : metadata.parts().value_count;
  std::size_t const fixed = sizeof(head) + extra_kinds_bytes(value_count) + 16 + 24;
  if (end_ - at_ < static_cast<std::ptrdiff_t>(fixed)) [[unlikely]]
    return false;
  head.site = site_of(metadata);
  if (head.site == 0) [[unlikely]]
    return false;
  char* to = at_ + sizeof(head) + extra_kinds_bytes(value_count);
  if (to + 40 > end_) [[unlikely]]
    return false;  // the description of the site took the room
  if ((head.flags & kForeign) != 0) [[unlikely]]
    to = put_word(put_word(to, record.track), record.time_ns);
  for (unsigned i = 0; i < record.reference_count; ++i) to = put_word(to, record.references[i]);
  if (value_count != 0) to = append_values(to, head, metadata, record.values);
  if (to == nullptr) [[unlikely]]
    return false;
  if (!stamp(head)) [[unlikely]]
    return false;
  head.words = static_cast<std::uint16_t>((to - at_) / 8);
  std::memcpy(at_, &head, sizeof(head));
  commit_described(to, head.flags);
  return true;
}

// Returns null if the chunk has no room.
char* ChunkWriter::append_values(char* to, RecordHead& head, Metadata const& metadata, Value const* values) noexcept {
  std::size_t const count = metadata.parts().value_count;
  auto* const more = reinterpret_cast<std::uint8_t*>(at_ + sizeof(RecordHead));
  char* const end_of_texts = this->end_of_texts();
  char* const end = end_;  // a copy: the compiler cannot know that the writes below leave end_ alone
  for (std::size_t i = 0; i < count; ++i) {
    Value const& value = values[i];
    auto kind = static_cast<std::uint8_t>(value.kind());
    if (kind >= kTextKind) {
      text_end_ = end_of_texts - (count - i) * 16;
      to = append_text(to, kind, value);
      if (to == nullptr) return nullptr;
    } else if (end - to < 16) [[unlikely]] {
      return nullptr;
    } else if ((kOneWordKinds >> kind & 1) != 0) [[likely]] {
      to = put_word(to, value.as_u64());
    } else if (value.kind() == ValueKind::i128 || value.kind() == ValueKind::u128) {
      Value::Uint128 const number = value.as_u128();
      std::memcpy(to, &number, 16);
      to += 16;
    }
    i < kInlineKinds ? head.kinds[i] = kind : more[i - kInlineKinds] = kind;
  }
  if (count > kInlineKinds) {
    for (std::size_t i = count - kInlineKinds; i % 8 != 0; ++i) more[i] = 0;
  }
  return to;
}

// Returns the limit for a record's texts. A record whose texts do not fit goes to the next chunk; but the first record
// of a chunk has to stay, so its texts are cut.
char* ChunkWriter::end_of_texts() const noexcept {
  char* const most = at_ + kMaxRecordBytes;
  if (describing_ == Describing::start_of_chunk) return std::min(most, end_ - kChunkBytes + kValuesOfStates);
  return records_ == head_->first_record ? std::min(most, end_) : most;
}

// The longest text that may begin at `to`.
std::size_t ChunkWriter::max_text(char const* to) const noexcept {
  if (describing_ == Describing::nothing) return kMaxValueBytes;
  if (describing_ == Describing::in_chunk) return kMaxStateText;
  std::ptrdiff_t const left = end_ - kChunkBytes + kTextsOfStates - to;
  return left <= 0 ? kMinStateText : std::clamp(static_cast<std::size_t>(left) / 2, kMinStateText, kMaxStateText);
}

// Appends a value that is text, or prints as text. Returns null if the chunk has no room.
char* ChunkWriter::append_text(char* to, std::uint8_t& kind, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: return append_text(to, kind, value.as_text());
    default: return append_printed(to, kind, value);
  }
}

char* ChunkWriter::append_printed(char* to, std::uint8_t& kind, Value const& value) noexcept {
  InlineTextBuffer<256> printed;
  if (value.kind() == ValueKind::error) {
    append_stored_error(printed, value);
    if (printed.size() <= max_text(to)) return append_text(to, kind, printed.view());
    printed.clear();  // an error must be whole; print it as a text, which may be cut
  }
  append_debug(printed, value);
  kind = static_cast<std::uint8_t>(ValueKind::verbatim);
  return append_text(to, kind, printed.view());
}

// Appends the size of the stored text, the size of the whole text, and the text. Returns null if the chunk has no room.
char* ChunkWriter::append_text(char* to, std::uint8_t& kind, std::string_view text) noexcept {
  std::size_t const max_text = this->max_text(to);
  // Leaves room for the values that follow, which may all be texts.
  std::size_t const room = static_cast<std::size_t>(text_end_ - to > 16 ? text_end_ - to - 16 : 0);
  std::size_t const size = cut_size(text, std::min(max_text, room & ~std::size_t{7}));
  if (size < text.size()) kind |= kCutValue;
  std::size_t const bytes = padded_to_word(size);
  if (end_ - to < static_cast<std::ptrdiff_t>(bytes + 8)) return nullptr;
  return put_text(to, text.substr(0, size), std::min<std::size_t>(text.size(), UINT32_MAX));
}

// Records a new tag. Returns false if the chunk has no room; the head of the next chunk then has the tag.
bool ChunkWriter::change_tag(std::uint32_t tag) noexcept {
  tag_ = tag;
  RecordHead head{};
  head.type = RecordType::tag;
  head.flags = kRestated;
  head.site = tag;
  head.words = sizeof(head) / 8;
  bool const is_pinned = pinned_chunks_left_ > 0;  // never lost, so its losses need no count
  bool const has_room = end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(head)) && stamp(head) &&
                        (is_pinned || head_->tag_changes < ChunkHead::kTagChanges);
  if (!has_room) return false;
  head_->has_first = begins_tag() ? 1 : 0;
  if (head_->tag_changes < ChunkHead::kTagChanges)
    head_->changes[head_->tag_changes++] = {tag, static_cast<std::uint32_t>(records_ - head_->first_record)};
  std::memcpy(at_, &head, sizeof(head));
  commit(at_ + sizeof(head), kRestated);
  return true;
}

// Takes the next chunk, in which the caller describes the thread before publish_chunk(). Returns false if no chunk is
// free.
bool ChunkWriter::take_chunk() noexcept {
  Region& region = parts_->region;
  Instant const last = time();
  leave_chunk();
  if (previous_ != Region::kNone) pinned_chunks_left_ > 0 ? void(--pinned_chunks_left_) : region.give_back(previous_);
  previous_ = chunk_;
  chunk_ = Region::kNone;
  at_ = end_ = nullptr;
  std::uint32_t const taken = region.take();
  if (taken == Region::kNone) return false;
  chunk_ = taken;
  head_ = &region.head(taken);
  start_clock(last);
  head_->used.store(0, std::memory_order_relaxed);
  head_->track = track_;
  head_->first_ticks = first_ticks_;
  head_->first_record = records_;
  head_->first_span = first_span_ = spans_;
  head_->tag = tag_;
  head_->tag_changes = 0;
  head_->records = 0;
  head_->last_ticks = 0;
  head_->importance = Importance::usual;
  head_->has_first = begins_tag() ? 1 : 0;
  at_ = region.chunk(taken);
  end_ = at_ + kChunkBytes;
  if (std::exchange(local_sites_, 0) != 0) sites_of_chunk_.fill({});
  known_.fill(0);
  foreign_tracks_.fill(0);
  describing_ = Describing::start_of_chunk;
  describe_clock();
  return true;
}

void ChunkWriter::publish_chunk() noexcept {
  describing_ = Describing::nothing;
  parts_->region.publish(chunk_);
}

// `last`: the time of the previous record. No time in the chunk is earlier.
void ChunkWriter::start_clock(Instant last) noexcept {
  constexpr std::int64_t kMaxErrorNs = 1'000'000;  // a greater difference means that the clock was set back
  NewChunkClock const now = read_chunk_clock();
  clock_ = now.clock;
  first_ticks_ = clock_.ticks;
  last_ticks_ = 0;
  exact_ticks_ = now.exact_ticks;
  max_ticks_ = UINT32_MAX;
  if (clock_.ns < last.ns && last.ns - clock_.ns < kMaxErrorNs) clock_.ns = last.ns;
}

void ChunkWriter::describe_clock() noexcept {
  RecordHead head{};
  head.type = RecordType::clock;
  head.flags = kRestated;
  head.words = sizeof(head) / 8 + 2;
  std::memcpy(at_, &head, sizeof(head));
  commit(put_word(put_word(at_ + sizeof(head), clock_.ns), clock_.ns_per_tick), kRestated);
}

void ChunkWriter::state(Metadata const& metadata, Value const* values, std::uint64_t span, std::uint64_t parent,
                        std::uint32_t tag, std::uint8_t flags) noexcept {
  bool const is_there = put_description({.type = RecordType::state,
                                         .metadata = &metadata,
                                         .values = has_room_for_values(metadata) ? values : nullptr,
                                         .flags = static_cast<std::uint8_t>(kRestated | flags),
                                         .reference_count = 3,
                                         .references = {span, parent, tag}});
  if (is_there) known_[span % kKnownSpans] = span;
}

void ChunkWriter::state_values(Metadata const& metadata, Value const* values, std::uint64_t span) noexcept {
  if (!has_room_for_values(metadata)) return;
  (void)put_description({.type = RecordType::values,
                         .metadata = &metadata,
                         .values = values,
                         .flags = kRestated,
                         .reference_count = 1,
                         .references = {span}});
}

// True if there is room for the numbers of the callsite and for the beginnings of some texts.
bool ChunkWriter::has_room_for_values(Metadata const& metadata) const noexcept {
  std::size_t const values = metadata.parts().value_count;
  std::size_t const bytes = sizeof(RecordHead) + extra_kinds_bytes(values) + 24 + values * 16 +
                            kMinStateText * std::min<std::size_t>(values, 16);
  return describing_ != Describing::start_of_chunk || at_ + bytes <= end_ - kChunkBytes + kValuesOfStates;
}

void ChunkWriter::describe_thread(std::string_view name) noexcept {
  auto const os_thread = static_cast<std::uint64_t>(os_thread_);
  bool const is_there = thread_ == track_ ? append_track(RecordType::track, 0, os_thread, name)
                                          : append_track(RecordType::thread, 0, os_thread, name);
  if (!is_there) left_out_ = true;
}

void ChunkWriter::describe_foreign_track(Track const& track) noexcept {
  std::uint64_t& known = foreign_tracks_[track.number % foreign_tracks_.size()];
  if (known == track.number || track.name.empty()) return;
  known = track.number;
  (void)append_track(RecordType::track, kForeign, track.number, track.name);
}

// A record of the type `thread` begins with the number of the thread. Returns false if the chunk has no room.
bool ChunkWriter::append_track(RecordType type, std::uint8_t flags, std::uint64_t number,
                               std::string_view name) noexcept {
  constexpr std::size_t kMaxName = 64;
  name = name.substr(0, cut_size(name, kMaxName));
  RecordHead head{};
  head.type = type;
  head.flags = kRestated | flags;
  std::size_t const bytes = sizeof(head) + (type == RecordType::thread ? 24 : 16) + padded_to_word(name.size());
  head.words = static_cast<std::uint16_t>(bytes / 8);
  if (end_ - at_ < static_cast<std::ptrdiff_t>(bytes) || !stamp(head)) return false;
  char* to = at_;
  std::memcpy(to, &head, sizeof(head));
  to += sizeof(head);
  if (type == RecordType::thread) to = put_word(to, thread_);
  to = put_word(put_word(to, number), std::uint64_t{name.size()});
  std::memset(to, 0, padded_to_word(name.size()));
  if (!name.empty()) std::memcpy(to, name.data(), name.size());
  commit_described(at_ + bytes, kRestated);
  return true;
}

}}}  // namespace tracing::v1::internal
