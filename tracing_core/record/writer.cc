#include "tracing_core/record/writer.h"

#include <algorithm>
#include <utility>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1::internal {
namespace {

// The values of spans that are described again are short, so that there is room for the records of the chunk. At its
// beginning they fill about half of it: a text takes no more than half of what is left of that, or a few bytes. Of very
// many spans, or values, the last ones are left out.
constexpr std::size_t kMaxStateText = 1024;
constexpr std::size_t kMinStateText = 48;
constexpr std::size_t kTextsOfStates = kChunkBytes / 2;
constexpr std::size_t kValuesOfStates = kTextsOfStates + kChunkBytes / 8;

constexpr std::uint8_t kTextKind = static_cast<std::uint8_t>(ValueKind::text);

constexpr std::size_t extra_kinds_bytes(std::size_t values) noexcept {
  return values <= kInlineKinds ? 0 : padded_to_word(values - kInlineKinds);
}

template <class T>
char* put_word(char* to, T word) noexcept {
  static_assert(sizeof(T) == 8);
  std::memcpy(to, &word, 8);
  return to + 8;
}

}  // namespace

void Writer::start(RecordingParts const& parts, std::uint64_t thread, std::int64_t os_thread, Restate restate,
                   void const* around) noexcept {
  if (parts_ == nullptr) parts.region.add_track();
  parts_ = &parts;
  restate_ = restate;
  thread_ = thread;
  os_thread_ = os_thread;
  // Marks are of the run, whichever thread makes them.
  bool const has_own_tag = parts.tag_of_thread != nullptr && thread != kMarksTrack;
  tag_source_ = has_own_tag ? parts.tag_of_thread() : &parts.tag;
  if (go_on(around)) return;
  finish();
  track_ = thread;
  spans_ = records_ = 0;
  tag_ = next_tag();
}

// So that many short threads need few chunks. False if a chunk of its own is better.
bool Writer::go_on(void const* around) noexcept {
  constexpr std::ptrdiff_t kMinRoom = kChunkBytes / 8;
  return head_ != nullptr && end_ - at_ >= kMinRoom && try_describe([&] { restate_(around, *this); });
}

void Writer::finish() noexcept {
  leave_chunk();
  if (chunk_ != Region::kNone) parts_->region.give_back(chunk_);
  if (previous_ != Region::kNone) parts_->region.give_back(previous_);
  chunk_ = previous_ = Region::kNone;
  at_ = end_ = nullptr;
}

// What follows in the chunk, if it is still the writer's, is no record.
void Writer::leave_chunk() noexcept {
  if (head_ == nullptr) return;
  head_->records = static_cast<std::uint32_t>(records_ - head_->first_record);
  head_->last_ticks = ticks_now();
  head_ = nullptr;
}

std::uint64_t Writer::new_span(Metadata const& metadata, Value const* values, Place const& place,
                               std::uint64_t parent) noexcept {
  std::uint64_t const key = make_span_key(track_, spans_);
  bool const is_explicit = (place.flags & kParentMask) == static_cast<std::uint8_t>(Parent::Kind::span);
  put(RecordType::new_span, metadata, values, place, is_explicit ? 2 : 1, key, parent);
  ++spans_;
  return key;
}

std::uint32_t Writer::find_site(Metadata const& metadata) noexcept {
  std::uint64_t const serial = serial_of(metadata);
  if (serial == 0) {
    std::uint32_t const number = parts_->sites.number_of(metadata);
    if (number != 0) {
      sites_[(reinterpret_cast<std::uintptr_t>(&metadata) >> 4) % kCachedSites] = {&metadata, number};
      return number;
    }
  }
  // May be gone before the recording is read, or found no room among the others: this chunk describes it.
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

// False if the chunk is too old for the record's time to be exact. The record for which it was made has room in any case.
bool Writer::stamp(RecordHead& head) noexcept {
  std::uint64_t const ticks = ticks_now() - first_ticks_;
  if (ticks > max_ticks_) return false;
  head.ticks = last_ticks_ = static_cast<std::uint32_t>(ticks);
  if (describing_ == Describing::nothing) max_ticks_ = exact_ticks_;
  return true;
}

void Writer::scope_end(Place const& place) noexcept {
  if (std::uint32_t const tag = next_tag(); tag != tag_) change_tag(tag, place);
  RecordHead head{};
  head.type = RecordType::scope_end;
  head.words = sizeof(RecordHead) / 8;
  for (int tries = 0; tries < 2; ++tries) {
    if (end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(head)) && stamp(head)) {
      std::memcpy(at_, &head, sizeof(head));
      return commit(at_ + sizeof(head), 0);
    }
    if (!next_chunk(place)) return drop();
  }
}

// The next record begins a chunk, whose head has the right numbers.
void Writer::drop() noexcept {
  leave_chunk();
  at_ = end_;
  ++records_;
  parts_->region.header().dropped.fetch_add(1, std::memory_order_relaxed);
  parts_->region.count_lost(tag_, 1);
}

bool Writer::put(RecordType type, Metadata const& metadata, Value const* values, Place const& place,
                 unsigned references, std::uint64_t first, std::uint64_t second, std::uint64_t third) noexcept {
  RecordHead head{};
  head.type = type;
  head.flags = place.flags | (values != nullptr ? kHasValues : 0);
  std::uint64_t const all[3] = {first, second, third};
  std::uint32_t const tag = next_tag();
  bool const is_description = describing_ != Describing::nothing;
  if (tag != tag_ && !is_description) [[unlikely]] change_tag(tag, place);
  if (append(head, metadata, values, place, all, references)) [[likely]] return true;
  if (is_description) {
    left_out_ = true;
    return false;
  }
  if (next_chunk(place) && append(head, metadata, values, place, all, references)) return true;
  drop();
  return false;
}

// False, and nothing is written, if there is no room.
bool Writer::append(RecordHead head, Metadata const& metadata, Value const* values, Place const& place,
                    std::uint64_t const (&references)[3], unsigned count) noexcept {
  std::size_t const value_count = values == nullptr ? 0 : metadata.parts().value_count;
  std::size_t const fixed = sizeof(head) + extra_kinds_bytes(value_count) + 16 + 24;
  if (end_ - at_ < static_cast<std::ptrdiff_t>(fixed)) [[unlikely]] return false;
  head.site = site_of(metadata);
  if (head.site == 0) [[unlikely]] return false;
  char* to = at_ + sizeof(head) + extra_kinds_bytes(value_count);
  if (to + 40 > end_) [[unlikely]] return false;  // the description of the site took the room
  if ((head.flags & kForeign) != 0) [[unlikely]] to = put_word(put_word(to, place.track), place.time_ns);
  for (unsigned i = 0; i < count; ++i) to = put_word(to, references[i]);
  if (value_count != 0) to = append_values(to, head, metadata, values);
  if (to == nullptr) [[unlikely]] return false;
  if (!stamp(head)) [[unlikely]] return false;
  head.words = static_cast<std::uint16_t>((to - at_) / 8);
  std::memcpy(at_, &head, sizeof(head));
  commit_described(to, head.flags);
  if (head.type == RecordType::event && metadata.level() <= Level::warn) [[unlikely]] spare_chunk();
  return true;
}

// Null if there is no room.
char* Writer::append_values(char* to, RecordHead& head, Metadata const& metadata, Value const* values) noexcept {
  std::size_t const count = metadata.parts().value_count;
  auto* const more = reinterpret_cast<std::uint8_t*>(at_ + sizeof(RecordHead));
  char* const end_of_texts = this->end_of_texts();
  for (std::size_t i = 0; i < count; ++i) {
    Value const& value = values[i];
    text_end_ = end_of_texts - (count - i) * 16;
    auto kind = static_cast<std::uint8_t>(value.kind());
    if (kind < kTextKind) [[likely]] {
      if (end_ - to < 16) [[unlikely]] return nullptr;
      if (value.kind() == ValueKind::i128 || value.kind() == ValueKind::u128) {
        Value::Uint128 const number = value.as_u128();
        std::memcpy(to, &number, 16);
        to += 16;
      } else if (value.kind() != ValueKind::empty && value.kind() != ValueKind::redacted) {
        to = put_word(to, value.as_u64());
      }
    } else {
      to = append_text(to, kind, value);
      if (to == nullptr) return nullptr;
    }
    i < kInlineKinds ? head.kinds[i] = kind : more[i - kInlineKinds] = kind;
  }
  if (count > kInlineKinds) {
    for (std::size_t i = count - kInlineKinds; i % 8 != 0; ++i) more[i] = 0;
  }
  return to;
}

// A record goes to the next chunk if its texts find no room in this one, but the first one of a chunk can go nowhere.
char* Writer::end_of_texts() const noexcept {
  char* const most = at_ + kMaxRecordBytes;
  if (describing_ == Describing::start_of_chunk) return std::min(most, end_ - kChunkBytes + kValuesOfStates);
  return records_ == head_->first_record ? std::min(most, end_) : most;
}

// Of a text that begins at `to`.
std::size_t Writer::max_text(char const* to) const noexcept {
  if (describing_ == Describing::nothing) return kMaxValueBytes;
  if (describing_ == Describing::in_chunk) return kMaxStateText;
  std::ptrdiff_t const left = end_ - kChunkBytes + kTextsOfStates - to;
  return left <= 0 ? kMinStateText : std::clamp(static_cast<std::size_t>(left) / 2, kMinStateText, kMaxStateText);
}

// Appends the sizes, of the text that is stored and of all of it, and the text; null if there is no room.
char* Writer::append_text(char* to, std::uint8_t& kind, Value const& value) noexcept {
  std::size_t const max_text = this->max_text(to);
  InlineTextBuffer<256> printed;
  std::string_view text;
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: text = value.as_text(); break;
    case ValueKind::error:
      append_stored_error(printed, value);
      if (printed.size() > max_text) {
        // The beginning would make no sense: a text, which may be cut.
        printed.clear();
        append_debug(printed, value);
        kind = static_cast<std::uint8_t>(ValueKind::verbatim);
      }
      text = printed.view();
      break;
    default:
      append_debug(printed, value);
      text = printed.view();
      kind = static_cast<std::uint8_t>(ValueKind::verbatim);
  }
  // Leaves room for the values that follow, which may all be texts.
  std::size_t const room = static_cast<std::size_t>(text_end_ - to > 16 ? text_end_ - to - 16 : 0);
  std::size_t const size = cut_size(text, std::min(max_text, room & ~std::size_t{7}));
  if (size < text.size()) kind |= kCutValue;
  std::size_t const bytes = padded_to_word(size);
  if (end_ - to < static_cast<std::ptrdiff_t>(bytes + 8)) return nullptr;
  std::uint32_t const sizes[2] = {static_cast<std::uint32_t>(size),
                                  static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), UINT32_MAX))};
  std::memcpy(to, sizes, 8);
  to += 8;
  if (bytes != 0) std::memset(to + bytes - 8, 0, 8);
  if (size != 0) std::memcpy(to, text.data(), size);
  return to + bytes;
}

void Writer::change_tag(std::uint32_t tag, Place const& place) noexcept {
  tag_ = tag;
  RecordHead head{};
  head.type = RecordType::tag;
  head.flags = kRestated;
  head.site = tag;
  head.words = sizeof(head) / 8;
  bool const is_pinned = pinned_chunks_left_ > 0;  // and so will not be lost
  bool const has_room = end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(head)) && stamp(head) &&
                        (is_pinned || head_->tag_changes < ChunkHead::kTagChanges);
  if (!has_room) {
    (void)next_chunk(place);  // whose head has the tag
    return;
  }
  head_->has_first = begins_tag() ? 1 : 0;
  if (head_->tag_changes < ChunkHead::kTagChanges)
    head_->changes[head_->tag_changes++] = {tag, static_cast<std::uint32_t>(records_ - head_->first_record)};
  std::memcpy(at_, &head, sizeof(head));
  commit(at_ + sizeof(head), kRestated);
}

bool Writer::next_chunk(Place const& place) noexcept {
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
  if (restate_ != nullptr) restate_(place.around, *this);
  describing_ = Describing::nothing;
  region.publish(taken);
  return true;
}

// `last` is the time of the record before, which the chunk's times do not precede.
void Writer::start_clock(Instant last) noexcept {
  constexpr std::int64_t kMaxErrorNs = 1'000'000;  // a greater difference means that the clock was set back
  NewChunkClock const now = read_chunk_clock();
  clock_ = now.clock;
  first_ticks_ = clock_.ticks;
  last_ticks_ = 0;
  exact_ticks_ = now.exact_ticks;
  max_ticks_ = UINT32_MAX;
  if (clock_.ns < last.ns && last.ns - clock_.ns < kMaxErrorNs) clock_.ns = last.ns;
}

void Writer::describe_clock() noexcept {
  RecordHead head{};
  head.type = RecordType::clock;
  head.flags = kRestated;
  head.words = sizeof(head) / 8 + 2;
  std::memcpy(at_, &head, sizeof(head));
  commit(put_word(put_word(at_ + sizeof(head), clock_.ns), clock_.ns_per_tick), kRestated);
}

void Writer::state(Metadata const& metadata, Value const* values, std::uint64_t span, std::uint64_t parent,
                   std::uint32_t tag, Place const& place) noexcept {
  if (put(RecordType::state, metadata, has_room_for_values(metadata) ? values : nullptr,
          {.flags = static_cast<std::uint8_t>(kRestated | place.flags), .around = place.around}, 3, span, parent, tag))
    known_[span % kKnownSpans] = span;
}

void Writer::state_values(Metadata const& metadata, Value const* values, std::uint64_t span,
                          void const* around) noexcept {
  if (!has_room_for_values(metadata)) return;
  put(RecordType::values, metadata, values, {.flags = kRestated, .around = around}, 1, span);
}

// At least for its numbers, and the beginnings of some texts.
bool Writer::has_room_for_values(Metadata const& metadata) const noexcept {
  std::size_t const values = metadata.parts().value_count;
  std::size_t const bytes = sizeof(RecordHead) + extra_kinds_bytes(values) + 24 + values * 16 +
                            kMinStateText * std::min<std::size_t>(values, 16);
  return describing_ != Describing::start_of_chunk || at_ + bytes <= end_ - kChunkBytes + kValuesOfStates;
}

void Writer::describe_thread(std::string_view name) noexcept {
  auto const os_thread = static_cast<std::uint64_t>(os_thread_);
  bool const is_there = thread_ == track_ ? append_track(RecordType::track, 0, os_thread, name)
                                          : append_track(RecordType::thread, 0, os_thread, name);
  if (!is_there) left_out_ = true;
}

void Writer::describe_foreign_track(Track const& track) noexcept {
  std::uint64_t& known = foreign_tracks_[track.number % foreign_tracks_.size()];
  if (known == track.number || track.name.empty()) return;
  known = track.number;
  (void)append_track(RecordType::track, kForeign, track.number, track.name);
}

// A record of the type `thread` begins with the number of the thread. False if there is no room.
bool Writer::append_track(RecordType type, std::uint8_t flags, std::uint64_t number, std::string_view name) noexcept {
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

}  // namespace tracing::inline v1::internal
