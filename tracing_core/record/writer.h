// Writer: appends the records of one thread to its chunk.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "tracing_core/internal/span_clock.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/record/chunk_clock.h"
#include "tracing_core/record/region.h"
#include "tracing_core/record/sites.h"

namespace tracing::inline v1::internal {

class Writer;

/// What the writers of a recording share.
struct RecordingParts {
  Region& region;
  Sites& sites;
  std::atomic<std::uint32_t> const* tag;
  /// Of a thread with a tag of its own: where it finds the tag of its next record, as long as it lives. Null: none has.
  std::atomic<std::uint32_t> const* const* (*tag_of_thread)() noexcept = nullptr;
};

/// Describes the thread and the spans that it is in, outermost first, by Writer::state() and state_values(). Called at
/// the start of each chunk, since the one before may be gone when the recording is read. `around` is that of the record
/// which needs the chunk.
using Restate = void (*)(void const* around, Writer& writer);

/// How a record differs from the usual one: in a contextual place, of the calling thread, of now.
struct Place {
  std::uint8_t flags = 0;  // kParentMask, kShown, kForeign
  std::uint64_t track = 0;   // with kForeign
  std::int64_t time_ns = 0;  // with kForeign
  void const* around = nullptr;  // for Restate
};

/// Single-thread. No call waits for another thread, allocates or makes a system call while there is room in the chunk.
/// A record for which there is no chunk is counted.
class Writer {
 public:
  Writer() = default;
  Writer(Writer const&) = delete;
  Writer& operator=(Writer const&) = delete;
  ~Writer() { finish(); }
  /// Leaves its chunks as they are: in a forked child they are the parent's.
  void abandon_chunks() noexcept {
    head_ = nullptr;
    chunk_ = previous_ = Region::kNone;
  }

  /// From now on the records are those of another thread. It goes on in the chunk of the thread before, which has ended, if
  /// that has room. `around` is for Restate.
  void start(RecordingParts const& parts, std::uint64_t thread, std::int64_t os_thread, Restate restate,
             void const* around = nullptr) noexcept;
  /// Of its chunks, this many are never given back: for records that must not be lost.
  void pin_chunks(std::uint32_t count) noexcept { pinned_chunks_left_ = count; }
  /// Gives its chunks back; start() must be called before further records.
  void finish() noexcept;
  std::uint64_t thread_number() const noexcept { return thread_; }
  /// The tag of the last record.
  std::uint32_t tag() const noexcept { return tag_; }
  /// The time of the last record, as readers will find it, unless that is foreign. Unknown if it was dropped.
  Instant time() const noexcept { return head_ == nullptr ? Instant() : clock_.time_of(first_ticks_ + last_ticks_); }

  /// For Restate, before anything else: the name that the thread has now, of which the first 64 bytes are kept.
  void describe_thread(std::string_view name) noexcept;
  /// To be called for another track before a record with kForeign. Its name is in the recording if there is room.
  void describe_foreign_track(Track const& track) noexcept;

  /// The usual records: of this thread, of now, in a contextual place, with a few numbers. False, and nothing is written,
  /// if they are others or find no room.
  bool try_event(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
    return put_numbers(RecordType::event, metadata, values, flags);
  }
  /// Returns the span's key, or zero.
  std::uint64_t try_scope_begin(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
    return put_numbers(RecordType::scope_begin, metadata, values, flags) ? make_span_key(track_, spans_++) : 0;
  }
  bool try_scope_end() noexcept {
    RecordHead* const head = reserve(sizeof(RecordHead));
    if (head == nullptr) [[unlikely]] return false;
    head->site = 0;
    head->words = sizeof(RecordHead) / 8;
    head->type = RecordType::scope_end;
    head->flags = 0;
    commit(reinterpret_cast<char*>(head + 1), 0);
    return true;
  }

  void event(Metadata const& metadata, Value const* values, Place const& place) noexcept {
    put(RecordType::event, metadata, values, place);
  }
  void event_below(Metadata const& metadata, Value const* values, Place const& place, std::uint64_t parent) noexcept {
    put(RecordType::event, metadata, values, place, 1, parent);
  }
  /// Returns the span's key.
  std::uint64_t scope_begin(Metadata const& metadata, Value const* values, Place const& place) noexcept {
    put(RecordType::scope_begin, metadata, values, place);
    return make_span_key(track_, spans_++);
  }
  void scope_end(Place const& place) noexcept;
  /// Returns the span's key.
  std::uint64_t new_span(Metadata const& metadata, Value const* values, Place const& place,
                         std::uint64_t parent) noexcept;
  void values(Metadata const& metadata, Value const* values, std::uint64_t span, Place const& place) noexcept {
    put(RecordType::values, metadata, values, place, 1, span);
  }
  /// enter, exit or close.
  void step(RecordType type, Metadata const& metadata, std::uint64_t span, Place const& place) noexcept {
    put(type, metadata, nullptr, place, 1, span);
  }
  void follows_from(Metadata const& metadata, std::uint64_t span, std::uint64_t cause, Place const& place) noexcept {
    put(RecordType::follows_from, metadata, nullptr, place, 2, span, cause);
  }
  void mark(Metadata const& metadata, Value const* values, Importance importance = Importance::usual) noexcept {
    bool const is_there =
        put(RecordType::mark, metadata, values, {.flags = static_cast<std::uint8_t>(Parent::Kind::root)});
    if (is_there && importance == Importance::high) spare_chunk();
  }
  void timed(Metadata const& metadata, std::uint64_t ns, Place const& place) noexcept {
    put(RecordType::timed, metadata, nullptr, place, 1, ns);
  }
  /// A span that was opened before, with the tag of then and the values of its first group; `place` has the flags
  /// kEntered and kShown, and `around` of the record which needs it.
  void state(Metadata const& metadata, Value const* values, std::uint64_t span, std::uint64_t parent,
             std::uint32_t tag, Place const& place) noexcept;
  void state_values(Metadata const& metadata, Value const* values, std::uint64_t span, void const* around) noexcept;
  /// Whether the chunk has, or need not have, a description of the span.
  bool knows(std::uint64_t span) const noexcept {
    if (span == 0) return true;
    bool const is_own = span >> 40 == track_ && head_ != nullptr && span >= make_span_key(track_, first_span_);
    return is_own || known_[span % kKnownSpans] == span;
  }

  /// Describes a span by `describe()`, which calls state() and state_values(). False, and nothing is written, if there is
  /// no room for all of that: then begin_chunk(), whose Restate must do it. Never begins a chunk: `describe` may have
  /// locked the span.
  template <class F>
  bool try_describe(F describe) noexcept {
    char* const start = at_;
    describing_ = Describing::in_chunk;
    left_out_ = false;
    describe();
    describing_ = Describing::nothing;
    if (left_out_) {
      at_ = start;
    } else if (at_ != start) {
      commit(at_, kRestated);
    }
    return !left_out_;
  }
  void begin_chunk(Place const& place) noexcept { (void)next_chunk(place); }

  Writer* next = nullptr;  // of a list

 private:
  enum class Describing : std::uint8_t { nothing, in_chunk, start_of_chunk };
  struct CachedSite {
    Metadata const* metadata = nullptr;  // made at compile time
    std::uint32_t number = 0;
  };
  struct LocalSite {
    std::uint64_t serial = 0;  // of one made at run time, whose address may be that of an earlier one
    std::uint32_t number = 0;
  };
  // The kinds of values that are one word.
  static constexpr std::uint32_t kOneWordKinds =
      1u << static_cast<unsigned>(ValueKind::boolean) | 1u << static_cast<unsigned>(ValueKind::i64) |
      1u << static_cast<unsigned>(ValueKind::u64) | 1u << static_cast<unsigned>(ValueKind::f64) |
      1u << static_cast<unsigned>(ValueKind::f32) | 1u << static_cast<unsigned>(ValueKind::pointer);
  static constexpr std::size_t kCachedSites = 256;
  static constexpr std::size_t kLocalSites = 32;
  static constexpr std::size_t kKnownSpans = 64;

  // Room for a record, stamped with the time; null if the chunk is full or too old, or if the tag changed.
  RecordHead* reserve(std::size_t bytes) noexcept {
    auto* const head = reinterpret_cast<RecordHead*>(at_);
    std::uint64_t const ticks = ticks_now() - first_ticks_;
    bool const fits = end_ - at_ >= static_cast<std::ptrdiff_t>(bytes) && ticks <= max_ticks_ &&
                      next_tag() == tag_;
    if (!fits) [[unlikely]] return nullptr;
    head->ticks = last_ticks_ = static_cast<std::uint32_t>(ticks);
    return head;
  }
  bool put_numbers(RecordType type, Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
    CachedSite const& cached = cached_site(metadata);
    std::size_t const count = metadata.parts().value_count;
    if (count > kInlineKinds || cached.metadata != &metadata) return false;
    RecordHead* const head = reserve(sizeof(RecordHead) + kInlineKinds * 8);
    if (head == nullptr) [[unlikely]] return false;
    char* to = reinterpret_cast<char*>(head + 1);
    std::uint32_t kinds = 0;
    for (std::size_t i = 0; i < count; ++i) {
      auto const kind = static_cast<std::uint32_t>(values[i].kind());
      if ((kOneWordKinds >> kind & 1) == 0) return false;
      kinds |= kind << (8 * i);
      std::uint64_t const word = values[i].as_u64();
      std::memcpy(to, &word, 8);
      to += 8;
    }
    head->site = cached.number;
    head->words = static_cast<std::uint16_t>(sizeof(RecordHead) / 8 + count);
    head->type = type;
    head->flags = static_cast<std::uint8_t>(kHasValues | flags);
    std::memcpy(head->kinds, &kinds, sizeof(kinds));
    commit(to, 0);
    if (metadata.level() <= Level::warn) [[unlikely]] spare_chunk();
    return true;
  }
  // The chunk has something that matters more than what others have.
  void spare_chunk() noexcept { head_->importance = Importance::high; }
  // False if there is no room.
  bool put(RecordType type, Metadata const& metadata, Value const* values, Place const& place, unsigned references = 0,
           std::uint64_t first = 0, std::uint64_t second = 0, std::uint64_t third = 0) noexcept;
  bool has_room_for_values(Metadata const& metadata) const noexcept;
  std::size_t max_text(char const* to) const noexcept;
  char* end_of_texts() const noexcept;
  void leave_chunk() noexcept;
  void drop() noexcept;
  bool append(RecordHead head, Metadata const& metadata, Value const* values, Place const& place,
              std::uint64_t const (&references)[3], unsigned count) noexcept;
  char* append_values(char* to, RecordHead& head, Metadata const& metadata, Value const* values) noexcept;
  char* append_text(char* to, std::uint8_t& kind, Value const& value) noexcept;
  CachedSite& cached_site(Metadata const& metadata) noexcept {
    return sites_[(reinterpret_cast<std::uintptr_t>(&metadata) >> 4) % kCachedSites];
  }
  std::uint32_t site_of(Metadata const& metadata) noexcept {
    CachedSite const& cached = cached_site(metadata);
    return cached.metadata == &metadata ? cached.number : find_site(metadata);
  }
  std::uint32_t find_site(Metadata const& metadata) noexcept;
  bool stamp(RecordHead& head) noexcept;
  void commit(char* end, std::uint8_t flags) noexcept {
    at_ = end;
    records_ += (flags & kRestated) == 0;
    head_->used.store(static_cast<std::uint32_t>(kChunkBytes - (end_ - end)), std::memory_order_release);
  }
  // A reader sees all of what try_describe() writes, or nothing.
  void commit_described(char* end, std::uint8_t flags) noexcept {
    describing_ == Describing::in_chunk ? void(at_ = end) : commit(end, flags);
  }
  std::uint32_t next_tag() const noexcept { return (*tag_source_)->load(std::memory_order_relaxed); }
  // Whether the next record is the first one with its tag; not if that is the thread's own and no longer that of all.
  bool begins_tag() noexcept {
    return tag_ == parts_->tag->load(std::memory_order_relaxed) && parts_->region.is_first_of(tag_);
  }
  bool next_chunk(Place const& place) noexcept;
  void start_clock(Instant last) noexcept;
  void describe_clock() noexcept;
  void change_tag(std::uint32_t tag, Place const& place) noexcept;
  bool go_on(void const* around) noexcept;
  bool append_track(RecordType type, std::uint8_t flags, std::uint64_t number, std::string_view name) noexcept;

  char* at_ = nullptr;
  char* end_ = nullptr;
  ChunkHead* head_ = nullptr;
  char* text_end_ = nullptr;  // of the texts of the record that is being written
  std::uint64_t first_ticks_ = 0;
  std::uint64_t max_ticks_ = 0;  // of a record in this chunk
  std::uint32_t last_ticks_ = 0;  // of the last record
  std::uint64_t spans_ = 0;
  std::uint64_t first_span_ = 0;  // of the chunk
  std::uint64_t records_ = 0;
  std::uint32_t tag_ = 0;
  std::atomic<std::uint32_t> const* const* tag_source_ = nullptr;
  RecordingParts const* parts_ = nullptr;

  std::uint64_t thread_ = 0;
  std::uint64_t track_ = 0;  // the number of the first of the threads that went on in each other's chunks
  std::uint32_t chunk_ = Region::kNone;
  std::uint32_t previous_ = Region::kNone;  // the last full one, kept so that a thread's last records survive
  ChunkClock clock_;
  std::uint64_t exact_ticks_ = 0;  // for so long is it exact
  std::uint32_t pinned_chunks_left_ = 0;
  std::uint32_t local_sites_ = 0;           // described in this chunk
  Describing describing_ = Describing::nothing;
  bool left_out_ = false;  // of what is described
  Restate restate_ = nullptr;
  std::int64_t os_thread_ = 0;
  std::array<std::uint64_t, 4> foreign_tracks_{};  // named in this chunk
  std::array<std::uint64_t, kKnownSpans> known_{};  // described in this chunk; others may be, too
  std::array<CachedSite, kCachedSites> sites_{};
  std::array<LocalSite, kLocalSites> sites_of_chunk_{};
};

}  // namespace tracing::inline v1::internal
