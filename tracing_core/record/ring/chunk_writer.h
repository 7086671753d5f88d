// ChunkWriter: appends the records of one thread to its chunk.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/record/ring/chunk_clock.h"
#include "tracing_core/record/ring/region.h"
#include "tracing_core/record/ring/sites.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/support/words.h"

namespace tracing { inline namespace v1 { namespace internal {

/// The parts that the writers of a recording share.
struct RecordingParts {
  Region& region;
  Sites& sites;
  std::atomic<std::uint32_t> const* tag;
  /// Returns where the calling thread finds the tag of its next record; valid as long as the thread lives. Null if all
  /// threads use `tag`.
  std::atomic<std::uint32_t> const* const* (*tag_of_thread)() noexcept = nullptr;
};

/// A record that is to be written. By default its parent is contextual, and it belongs to the calling thread and to the
/// current time.
struct NewRecord {
  void refer_to(std::uint64_t key) noexcept { references[reference_count++] = key; }

  RecordType type{};
  Metadata const* metadata = nullptr;  ///< null for scope_end
  Value const* values = nullptr;       ///< as many as the statement has fields, or null
  std::uint8_t flags = 0;              ///< kParentMask, kShown, kForeign, kByException
  std::uint8_t reference_count = 0;
  std::array<std::uint64_t, 3> references{};  ///< spans that the record names, see RecordType
  std::uint64_t track = 0;                    ///< with kForeign
  std::int64_t time_ns = 0;                   ///< with kForeign
};

/// Appends each record to a chunk. When the chunk is full, takes the next chunk, lets the caller describe the thread
/// and its open spans there, and goes on. Single-thread. No call waits for another thread, allocates or makes a system
/// call while there is room in the chunk. A record that finds no chunk is counted.
///
/// Some calls take a `describe(writer)`. It is called at the start of a chunk, since the previous chunk may be gone
/// when the recording is read. It describes the thread by describe_thread(), and the spans that the thread is in,
/// outermost first, by state() and state_values().
class ChunkWriter {
 public:
  ChunkWriter() = default;
  ChunkWriter(ChunkWriter const&) = delete;
  ChunkWriter& operator=(ChunkWriter const&) = delete;
  ~ChunkWriter() { finish(); }
  /// Leaves its chunks as they are: in a forked child they are the parent's.
  void abandon_chunks() noexcept {
    head_ = nullptr;
    chunk_ = previous_ = Region::kNone;
  }

  /// Begins the records of another thread. If the chunk of the previous thread, which has ended, has room, describes
  /// the new thread there and goes on in that chunk.
  template <class Describe>
  void start(RecordingParts const& parts, std::uint64_t thread, std::int64_t os_thread, Describe describe) noexcept {
    take_over(parts, thread, os_thread);
    if (!can_go_on() || !try_describe([&] { describe(*this); })) start_afresh();
  }
  /// Keeps its next `count` chunks for ever, for records that must not be lost.
  void pin_chunks(std::uint32_t count) noexcept { pinned_chunks_left_ = count; }
  /// Gives its chunks back; start() must be called before further records.
  void finish() noexcept;
  std::uint64_t thread_number() const noexcept { return thread_; }
  /// The tag of the last record.
  std::uint32_t tag() const noexcept { return tag_; }
  /// The time of the last record, as readers will find it, unless the record is foreign. Unknown if it was dropped.
  Instant time() const noexcept { return head_ == nullptr ? Instant() : clock_.time_of(first_ticks_ + last_ticks_); }

  /// Must be the first call of a description. Records the first 64 bytes of the thread's present name.
  void describe_thread(std::string_view name) noexcept;
  /// Call it before a kForeign record for `track`. Records the track's name if there is room.
  void describe_foreign_track(Track const& track) noexcept;

  /// Fast path: current thread and time, contextual parent, and values that are numbers or texts, the texts together at
  /// most 512 bytes long. Returns false, and writes nothing, for any other record, or if the chunk is full.
  bool try_event(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
    return put_values(RecordType::event, metadata, values, flags);
  }
  /// As try_event(). Returns the span's key, or zero.
  std::uint64_t try_scope_begin(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept {
    return put_values(RecordType::scope_begin, metadata, values, flags) ? make_span_key(track_, spans_++) : 0;
  }
  /// As try_scope_begin(), for a span with handles. `values` may be null; `flags` say which parent it has.
  std::uint64_t try_new_span(Metadata const& metadata, Value const* values, std::uint8_t flags) noexcept;
  bool try_scope_end() noexcept {
    RecordHead* const head = reserve(sizeof(RecordHead));
    if (head == nullptr) [[unlikely]]
      return false;
    head->site = 0;
    head->words = sizeof(RecordHead) / 8;
    head->type = RecordType::scope_end;
    head->flags = 0;
    commit(reinterpret_cast<char*>(head + 1), 0);
    return true;
  }

  /// Fast path of enter, exit and close, for a span that has a key and that the chunk describes.
  bool try_step(RecordType type, Metadata const& metadata, std::uint64_t span) noexcept {
    CachedSite const& cached = cached_site(metadata);
    if (cached.metadata != &metadata || span == 0 || !knows(span)) return false;
    RecordHead* const head = reserve(sizeof(RecordHead) + 8);
    if (head == nullptr) [[unlikely]]
      return false;
    head->site = cached.number;
    head->words = sizeof(RecordHead) / 8 + 1;
    head->type = type;
    head->flags = 0;
    std::memset(head->kinds, 0, sizeof(head->kinds));
    std::memcpy(head + 1, &span, 8);
    commit(reinterpret_cast<char*>(head + 1) + 8, 0);
    return true;
  }

  /// Appends the record, in a new chunk if it finds no room.
  template <class Describe>
  void write(NewRecord const& record, Describe describe) noexcept {
    if (put(record)) [[likely]]
      return;
    if (!begin_chunk(describe) || !put(record)) drop(record);
  }
  /// Takes the next chunk and describes it. Returns false if the ring has no free chunk.
  template <class Describe>
  bool begin_chunk(Describe describe) noexcept {
    if (!take_chunk()) return false;
    describe(*this);
    publish_chunk();
    return true;
  }
  /// Makes the ring pass over the chunk of the last record, for a while.
  void spare_chunk() noexcept {
    if (head_ != nullptr) head_->importance = Importance::high;
  }
  /// The key that the next new_span or scope_begin will get.
  std::uint64_t next_key() const noexcept { return make_span_key(track_, spans_); }

  /// Describes a span that was opened before, with the tag of its beginning and the values of its first group. `flags`
  /// are kEntered and kShown.
  void state(Metadata const& metadata, Value const* values, std::uint64_t span, std::uint64_t parent, std::uint32_t tag,
             std::uint8_t flags) noexcept;
  void state_values(Metadata const& metadata, Value const* values, std::uint64_t span) noexcept;
  /// True if the chunk describes the span, or if the span has no key.
  bool knows(std::uint64_t span) const noexcept {
    if (span == 0) return true;
    bool const is_own = span >> 40 == track_ && head_ != nullptr && span >= make_span_key(track_, first_span_);
    return is_own || known_[span % kKnownSpans] == span;
  }

  /// Describes a span by `describe()`, which calls state() and state_values(). Returns false, and writes nothing, if
  /// the chunk has no room for the whole description: then begin_chunk() describes the span.
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

  ChunkWriter* next = nullptr;  // of a list

 private:
  enum class Describing : std::uint8_t { nothing, in_chunk, start_of_chunk };
  struct CachedSite {
    Metadata const* metadata = nullptr;  // made at compile time
    std::uint32_t number = 0;
  };
  struct LocalSite {
    std::uint64_t serial = 0;  // callsites made at run time may share an address, one after the other
    std::uint32_t number = 0;
  };
  // A bit for each kind of value that takes one word.
  static constexpr std::uint32_t kOneWordKinds =
      1u << static_cast<unsigned>(ValueKind::boolean) | 1u << static_cast<unsigned>(ValueKind::i64) |
      1u << static_cast<unsigned>(ValueKind::u64) | 1u << static_cast<unsigned>(ValueKind::f64) |
      1u << static_cast<unsigned>(ValueKind::f32) | 1u << static_cast<unsigned>(ValueKind::pointer);
  static constexpr std::uint32_t kTextKinds = 1u << static_cast<unsigned>(ValueKind::text) |
                                              1u << static_cast<unsigned>(ValueKind::verbatim) |
                                              1u << static_cast<unsigned>(ValueKind::bytes);
  static constexpr std::size_t kMaxFastTexts = 512;  // the sum of the sizes of a record's texts, with padding
  static constexpr std::size_t kMoreKinds = 8;       // the kinds of further values take a word
  static constexpr std::size_t kMaxFastValues = kInlineKinds + kMoreKinds;
  static constexpr std::size_t kCachedSites = 256;
  static constexpr std::size_t kLocalSites = 32;
  static constexpr std::size_t kKnownSpans = 64;

  // Returns room for a record, stamped with the time; null if the chunk is full or too old, or if the tag changed.
  RecordHead* reserve(std::size_t bytes) noexcept {
    auto* const head = reinterpret_cast<RecordHead*>(at_);
    std::uint64_t const ticks = ticks_now() - first_ticks_;
    bool const fits = end_ - at_ >= static_cast<std::ptrdiff_t>(bytes) && ticks <= max_ticks_ && next_tag() == tag_;
    if (!fits) [[unlikely]]
      return nullptr;
    head->ticks = last_ticks_ = static_cast<std::uint32_t>(ticks);
    return head;
  }
  // Not inlined, since put_values() would save registers for it each time.
  [[gnu::noinline]] bool put_texts(RecordType type, Metadata const& metadata, Value const* values,
                                   std::uint8_t flags) noexcept;
  template <bool kIsUsual>
  [[gnu::always_inline]] bool put_short(NewRecord const& record) noexcept;
  bool append_short(NewRecord const& record) noexcept;
  [[gnu::always_inline]] bool put_values(RecordType type, Metadata const& metadata, Value const* values,
                                         std::uint8_t flags) noexcept {
    std::size_t const bytes = metadata.parts().numbers_size;
    if (bytes > kMaxFastValues * sizeof(Value)) return put_texts(type, metadata, values, flags);
    CachedSite const& cached = cached_site(metadata);
    if (cached.metadata != &metadata) return false;
    RecordHead* const head = reserve(sizeof(RecordHead) + (kMaxFastValues + 1) * 8);
    if (head == nullptr) [[unlikely]]
      return false;
    char* kind_at = begin_kinds(*head);
    char* to = begin_values(*head, bytes / sizeof(Value));
    for (Value const *value = values, *const end = values + bytes / sizeof(Value); value != end; ++value) {
      auto const kind = static_cast<std::uint8_t>(value->kind());
      if ((kOneWordKinds >> kind & 1) == 0) return false;
      to = put_word(to, value->as_u64());
      std::memcpy(kind_at++, &kind, 1);
    }
    finish_head(*head, type, cached.number, static_cast<std::uint8_t>(kHasValues | flags), to);
    commit(to, 0);
    if (metadata.level() <= Level::warn) [[unlikely]]
      spare_chunk();
    return true;
  }
  static char* begin_kinds(RecordHead& head) noexcept {
    char* const kinds = reinterpret_cast<char*>(&head) + offsetof(RecordHead, kinds);
    std::memset(kinds, 0, kInlineKinds + kMoreKinds);
    return kinds;
  }
  static char* begin_values(RecordHead& head, std::size_t count) noexcept {
    return reinterpret_cast<char*>(&head + 1) + (count > kInlineKinds ? kMoreKinds : 0);
  }
  template <class T>
  static char* put_word(char* to, T word) noexcept {
    static_assert(sizeof(T) == 8);
    std::memcpy(to, &word, 8);
    return to + 8;
  }
  static void finish_head(RecordHead& head, RecordType type, std::uint32_t site, std::uint8_t flags,
                          char const* end) noexcept {
    head.site = site;
    head.words = static_cast<std::uint16_t>(static_cast<std::size_t>(end - reinterpret_cast<char*>(&head)) / 8);
    head.type = type;
    head.flags = flags;
  }
  // Each returns false, and writes nothing, if the chunk has no room.
  bool put(NewRecord const& record) noexcept;
  bool put_description(NewRecord const& record) noexcept;
  bool put_scope_end(std::uint8_t flags) noexcept;
  bool has_room_for_values(Metadata const& metadata) const noexcept;
  std::size_t max_text(char const* to) const noexcept;
  char* end_of_texts() const noexcept;
  void leave_chunk() noexcept;
  void drop(NewRecord const& record) noexcept;
  bool append(NewRecord const& record) noexcept { return append_short(record) || append_any(record); }
  bool append_any(NewRecord const& record) noexcept;
  char* append_values(char* to, RecordHead& head, Metadata const& metadata, Value const* values) noexcept;
  char* append_text(char* to, std::uint8_t& kind, Value const& value) noexcept;
  char* append_printed(char* to, std::uint8_t& kind, Value const& value) noexcept;
  char* append_text(char* to, std::uint8_t& kind, std::string_view text) noexcept;
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
  // A reader sees all that try_describe() writes, or nothing.
  void commit_described(char* end, std::uint8_t flags) noexcept {
    describing_ == Describing::in_chunk ? void(at_ = end) : commit(end, flags);
  }
  std::uint32_t next_tag() const noexcept { return (*tag_source_)->load(std::memory_order_relaxed); }
  // True if the next record is the first with its tag. False if the tag is the thread's own, and the other threads have
  // moved on to another tag.
  bool begins_tag() noexcept {
    return tag_ == parts_->tag->load(std::memory_order_relaxed) && parts_->region.is_first_of(tag_);
  }
  bool take_chunk() noexcept;
  void publish_chunk() noexcept;
  void start_clock(Instant last) noexcept;
  void describe_clock() noexcept;
  bool change_tag(std::uint32_t tag) noexcept;
  void take_over(RecordingParts const& parts, std::uint64_t thread, std::int64_t os_thread) noexcept;
  bool can_go_on() const noexcept;
  void start_afresh() noexcept;
  bool append_track(RecordType type, std::uint8_t flags, std::uint64_t number, std::string_view name) noexcept;

  char* at_ = nullptr;
  char* end_ = nullptr;
  ChunkHead* head_ = nullptr;
  char* text_end_ = nullptr;  // limit for the texts of the record that is being written
  std::uint64_t first_ticks_ = 0;
  std::uint64_t max_ticks_ = 0;   // of a record in this chunk
  std::uint32_t last_ticks_ = 0;  // of the last record
  std::uint64_t spans_ = 0;
  std::uint64_t first_span_ = 0;  // of the chunk
  std::uint64_t records_ = 0;
  std::uint32_t tag_ = 0;
  std::atomic<std::uint32_t> const* const* tag_source_ = nullptr;
  RecordingParts const* parts_ = nullptr;

  std::uint64_t thread_ = 0;
  std::uint64_t track_ = 0;  // number of the first thread; each later one went on in the chunk of the one before
  std::uint32_t chunk_ = Region::kNone;
  std::uint32_t previous_ = Region::kNone;  // the last full chunk, kept so that a thread's last records survive
  ChunkClock clock_;
  std::uint64_t exact_ticks_ = 0;  // clock_ is exact up to this tick
  std::uint32_t pinned_chunks_left_ = 0;
  std::uint32_t local_sites_ = 0;  // described in this chunk
  Describing describing_ = Describing::nothing;
  bool left_out_ = false;  // a part of the description found no room
  std::int64_t os_thread_ = 0;
  std::array<std::uint64_t, 4> foreign_tracks_{};   // named in this chunk
  std::array<std::uint64_t, kKnownSpans> known_{};  // spans that the chunk describes; it may describe others, too
  std::array<CachedSite, kCachedSites> sites_{};
  std::array<LocalSite, kLocalSites> sites_of_chunk_{};
};

}}}  // namespace tracing::v1::internal
