// The layout of a recording, which memory and file share: docs/recording-format.md describes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

inline constexpr unsigned char kRecordingMagic[8] = {0x89, 'T', 'L', 'R', 'E', 'C', '\r', '\n'};
inline constexpr std::uint32_t kRecordingVersion = 1;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::uint32_t kChunkBytes = 16 * 1024;
inline constexpr std::uint32_t kChunksPerGroup = 64;

/// The first bytes of a recording. Followed by groups: the heads of kChunksPerGroup chunks, then these chunks.
struct RegionHeader {
  unsigned char magic[8];  // written last
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t chunk_head_bytes;
  std::uint32_t chunks_per_group;
  std::uint64_t process;
  std::uint64_t start_ticks;  // the processor's counter, or the system's clock
  std::int64_t start_ns;      // the wall clock at that moment, since 1970
  std::atomic<std::uint64_t> ns_per_tick;  // times 2^32
  std::atomic<std::uint64_t> dropped;      // records for which there was no chunk
  std::atomic<std::uint32_t> growth_error;  // the errno with which it could not grow; 0: it could so far
  std::atomic<std::uint64_t> interrupted;  // records that were made while their thread made another one, and are missing
  alignas(64) std::atomic<std::uint32_t> hand;    // the chunk that is taken next
  alignas(64) std::atomic<std::uint32_t> usable;  // how many chunks the hand passes
  std::atomic<std::uint32_t> spared;              // how many chunks with WARN or ERROR it has passed over; wraps
  std::atomic<std::uint32_t> newest_tag;          // of which the first records are kept
  std::atomic<std::uint64_t> overwritten_until;   // no record after this moment was overwritten
  // Tag in the upper 24 bits, records that are lost in the others; the place is the tag modulo kLossEntries.
  static constexpr std::size_t kLossEntries = 480;
  alignas(64) std::atomic<std::uint64_t> losses[kLossEntries];
};
static_assert(sizeof(RegionHeader) == 4096);

/// See ChunkHead::importance.
enum class Importance : std::uint8_t {
  usual,
  high,    // it has WARN, ERROR or a failure; the hand has not come to it yet
  spared,  // the same, and the hand has passed over it
};

inline constexpr std::uint32_t kMaxTag = (1u << 24) - 1;
inline constexpr std::uint64_t kMaxLoss = (std::uint64_t{1} << 40) - 1;

/// What a chunk contains. Belongs to one track at a time.
struct ChunkHead {
  std::atomic<std::uint64_t> generation;  // zero: never used; odd: changing hands
  std::atomic<std::uint32_t> owned;       // a track may still write to it
  std::atomic<std::uint32_t> used;        // how many bytes of it are records
  std::uint64_t track;                    // zero: descriptions of callsites. See RecordType::thread
  std::uint64_t first_ticks;              // to which records add
  std::uint64_t first_record;             // how many records the track made before
  std::uint64_t first_span;               // how many spans the track made before
  std::uint32_t tag;                      // see RecordType::tag
  // What is lost if the chunk is given away.
  std::uint16_t tag_changes;
  Importance importance;
  std::uint8_t has_first;    // it has the first records of a tag, the last one that it has
  std::uint64_t last_ticks;  // when its track left it; zero before
  std::uint32_t records;     // that have an ordinal; zero before
  static constexpr std::size_t kTagChanges = 7;
  struct TagChange {
    std::uint32_t tag;
    std::uint32_t records;  // before it
  } changes[kTagChanges];
  std::uint32_t spared_before;  // how many others were, when this one was spared
};
static_assert(sizeof(ChunkHead) == 128);

inline constexpr std::size_t kGroupBytes = kChunksPerGroup * (sizeof(ChunkHead) + std::size_t{kChunkBytes});
constexpr std::size_t offset_of_head(std::uint32_t chunk) noexcept {
  return sizeof(RegionHeader) + chunk / kChunksPerGroup * kGroupBytes + chunk % kChunksPerGroup * sizeof(ChunkHead);
}
constexpr std::size_t offset_of_chunk(std::uint32_t chunk) noexcept {
  return sizeof(RegionHeader) + chunk / kChunksPerGroup * kGroupBytes + kChunksPerGroup * sizeof(ChunkHead) +
         std::size_t{chunk % kChunksPerGroup} * kChunkBytes;
}

enum class RecordType : std::uint8_t {
  site = 1,      ///< describes a callsite
  track,         ///< describes the chunk's track: its system id and name
  tag,           ///< records from here on have the tag `site`
  state,         ///< describes a span that was opened before the chunk, and its tag
  scope_begin,   ///< a span is opened and entered; its parent is the innermost span
  scope_end,     ///< the innermost span is left and closed
  event,
  new_span,      ///< a span is opened
  enter,
  exit,
  close,
  values,        ///< values are recorded in an open span
  follows_from,
  timed,         ///< the innermost span, a perf span, ends: its duration in nanoseconds
  mark,          ///< like an event in no span, but about the run of tests: its callsite says what
  clock,         ///< turns the ticks of the chunk's records into times
  thread,        ///< records from here on are of another thread, which goes on where one that ended left off
};

/// The flags of a record.
inline constexpr std::uint8_t kParentMask = 3;   // Parent::Kind
inline constexpr std::uint8_t kHasValues = 4;    // kinds and values, as many as the callsite has
inline constexpr std::uint8_t kRestated = 8;     // describes what was recorded before: has no ordinal
inline constexpr std::uint8_t kEntered = 16;     // of `state`: the track is in the span
inline constexpr std::uint8_t kForeign = 32;     // two words: the number of another track, and the time since 1970 in ns
inline constexpr std::uint8_t kShown = 64;       // was printed when it happened

/// Followed by, each padded to 8 bytes: the kinds of further values, the words of kForeign, references, values.
struct RecordHead {
  std::uint32_t ticks;  // since the chunk's first
  std::uint32_t site;   // from kLocalSite: described in this chunk
  std::uint16_t words;  // the size of the record, of 8 bytes
  RecordType type;
  std::uint8_t flags;
  std::uint8_t kinds[4];  // of the first values: a ValueKind and kCutValue
};
static_assert(sizeof(RecordHead) == 16);

inline constexpr std::uint32_t kLocalSite = std::uint32_t{1} << 31;
/// In a kind: the text is the beginning of a longer one.
inline constexpr std::uint8_t kCutValue = 128;
inline constexpr std::size_t kInlineKinds = 4;
/// Longer texts are cut, so that each record has room in a chunk behind the spans around it.
inline constexpr std::size_t kMaxValueBytes = kChunkBytes / 4;
inline constexpr std::size_t kMaxRecordBytes = kChunkBytes / 2;
/// Longer names of callsites made at run time are cut: each chunk describes those of its records and of the spans around
/// them.
inline constexpr std::size_t kMaxRunTimeName = kChunkBytes / 16;

constexpr std::size_t padded_to_word(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

/// The size of the longest beginning of at most `size` bytes that ends with a whole character.
constexpr std::size_t cut_size(std::string_view text, std::size_t size) noexcept {
  if (text.size() <= size) return text.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return size;
}

/// The track of marks.
inline constexpr std::uint64_t kMarksTrack = (std::uint64_t{1} << 24) - 1;

/// A span is the n-th one that a track opened.
constexpr std::uint64_t make_span_key(std::uint64_t track, std::uint64_t ordinal) noexcept {
  return track << 40 | (ordinal & ((std::uint64_t{1} << 40) - 1));
}

/// The content of a `site` record. Followed by the entries of fields and unnamed values, those of placeholders, the
/// text, the file's name and the statement's arguments.
struct SiteRow {
  std::uint8_t kind;   // Kind
  std::uint8_t level;  // Level
  std::uint8_t max_level;
  std::uint8_t flags;
  std::uint8_t field_count;
  std::uint8_t unnamed_count;
  std::uint8_t value_count;
  std::uint8_t placeholder_count;
  std::uint32_t line;
  std::uint32_t name_size;
  std::uint32_t target_size;
  std::uint32_t function_size;
  std::uint32_t module_path_size;
  std::uint32_t message_size;
  std::uint32_t text_size;  // of all names in one text, in this order, then fields and specifications
  std::uint32_t file_size;
  std::uint32_t arguments_size;
  std::uint32_t reserved;
};
static_assert(sizeof(SiteRow) == 48);

inline constexpr std::uint8_t kSiteHasModulePath = 1;
inline constexpr std::uint8_t kSiteHasMessage = 2;
inline constexpr std::uint8_t kSiteIsPerf = 4;
inline constexpr std::uint8_t kSiteEndsPerfSpan = 8;
inline constexpr std::uint8_t kSiteHasFile = 16;
inline constexpr std::uint8_t kSiteHasLineZero = 32;

struct SiteField {
  std::uint32_t offset;  // in the text, or in the arguments if unnamed
  std::uint32_t size_and_value;  // size, and the index of the value from bit 24
};
struct SitePlaceholder {
  std::uint32_t offset;
  std::uint32_t spec_offset;
  std::uint16_t spec_size;
  std::uint16_t value_index;
};

}  // namespace tracing::inline v1::internal
