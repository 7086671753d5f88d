// The layout of a recording, which memory and file share: docs/recording-format.md describes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/record/entry.h"
#include "tracing_core/support/words.h"

namespace tracing { inline namespace v1 { namespace internal {

inline constexpr unsigned char kRecordingMagic[8] = {0x89, 'T', 'L', 'R', 'E', 'C', '\r', '\n'};
inline constexpr std::uint32_t kRecordingVersion = 1;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::uint32_t kChunkBytes = 16 * 1024;
inline constexpr std::uint32_t kChunksPerGroup = 64;

/// The first bytes of a recording. Groups follow: the heads of kChunksPerGroup chunks, then these chunks.
struct RegionHeader {
  unsigned char magic[8];  // written last
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t chunk_head_bytes;
  std::uint32_t chunks_per_group;
  std::uint64_t process;
  std::uint64_t start_ticks;                      // of the processor's counter, or of the system's clock
  std::int64_t start_ns;                          // the wall clock at `start_ticks`, since 1970
  std::atomic<std::uint64_t> ns_per_tick;         // times 2^32
  std::atomic<std::uint64_t> dropped;             // how many records found no chunk
  std::atomic<std::uint32_t> growth_error;        // the errno of a growth that failed; 0: no growth failed
  std::atomic<std::uint64_t> interrupted;         // records missing because their thread was making another record
  alignas(64) std::atomic<std::uint32_t> hand;    // the chunk that is taken next
  alignas(64) std::atomic<std::uint32_t> usable;  // how many chunks the hand goes round
  std::atomic<std::uint32_t> spared;              // how many chunks with WARN or ERROR the hand has passed over; wraps
  std::atomic<std::uint32_t> newest_tag;          // the tag whose first records are never overwritten
  std::atomic<std::uint64_t> overwritten_until;   // no record after these ticks was overwritten
  // Upper 24 bits: a tag. Lower 40 bits: how many of its records are lost. The tag's index is `tag % kLossEntries`.
  static constexpr std::size_t kLossEntries = 480;
  alignas(64) std::atomic<std::uint64_t> losses[kLossEntries];
};
static_assert(sizeof(RegionHeader) == 4096);

/// See ChunkHead::importance.
enum class Importance : std::uint8_t {
  usual,
  high,    // has a WARN, an ERROR or a failure; the hand has not reached the chunk yet
  spared,  // as `high`, and the hand has passed over the chunk
};

inline constexpr std::uint32_t kMaxTag = (1u << 24) - 1;
inline constexpr std::uint64_t kMaxLoss = (std::uint64_t{1} << 40) - 1;

/// Says what a chunk contains. A chunk belongs to one track at a time.
struct ChunkHead {
  std::atomic<std::uint64_t> generation;  // zero: never used; odd: changing hands
  std::atomic<std::uint32_t> owned;       // not zero: a track may still write to the chunk
  std::atomic<std::uint32_t> used;        // the bytes of the chunk that are records
  std::uint64_t track;                    // zero: descriptions of callsites. See RecordType::thread
  std::uint64_t first_ticks;              // the ticks of records count from here
  std::uint64_t first_record;             // how many records the track made before
  std::uint64_t first_span;               // how many spans the track made before
  std::uint32_t tag;                      // see RecordType::tag
  // Says what is lost if the chunk is given away.
  std::uint16_t tag_changes;
  Importance importance;
  std::uint8_t has_first;    // 1: holds the first records of its last tag
  std::uint64_t last_ticks;  // when its track left it; zero until then
  std::uint32_t records;     // how many records have an ordinal; zero until the track leaves the chunk
  static constexpr std::size_t kTagChanges = 7;
  struct TagChange {
    std::uint32_t tag;
    std::uint32_t records;  // how many records of the chunk precede the change
  } changes[kTagChanges];
  std::uint32_t spared_before;  // RegionHeader::spared when the hand passed over this chunk
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

using RecordType = recording::EntryType;

/// The flags of a record.
inline constexpr std::uint8_t kParentMask = 3;  // Parent::Kind
inline constexpr std::uint8_t kHasValues = 4;   // a kind and a value follow for each value of the callsite
inline constexpr std::uint8_t kRestated =
    recording::Entry::kRestated;              // repeats what was recorded before; has no ordinal
inline constexpr std::uint8_t kEntered = 16;  // in `state`: the track is in the span
inline constexpr std::uint8_t kForeign =
    recording::Entry::kForeign;  // two words follow: another track, and a time in ns since 1970
inline constexpr std::uint8_t kShown = recording::Entry::kShown;  // was printed when it happened
inline constexpr std::uint8_t kByException =
    recording::Entry::kByException;  // in `scope_end` and `exit`: an exception left the span

/// Begins each record. Then follow, each padded to 8 bytes: (1) the kinds of values from the fifth on, (2) the two
/// words of kForeign, (3) references, (4) values.
struct RecordHead {
  std::uint32_t ticks;  // since ChunkHead::first_ticks
  std::uint32_t site;   // number of the callsite; from kLocalSite on: described in this chunk
  std::uint16_t words;  // the size of the record in units of 8 bytes
  RecordType type;
  std::uint8_t flags;
  std::uint8_t kinds[4];  // of the first four values: the ValueKind, plus kCutValue if the value is cut
};
static_assert(sizeof(RecordHead) == 16);

inline constexpr std::uint32_t kLocalSite = std::uint32_t{1} << 31;
/// A flag of a kind: the value is only the beginning of a longer text.
inline constexpr std::uint8_t kCutValue = 128;
inline constexpr std::size_t kInlineKinds = 4;
/// Longer texts are cut, so that a chunk has room for any record after the descriptions of the spans around it.
inline constexpr std::size_t kMaxValueBytes = kChunkBytes / 4;
inline constexpr std::size_t kMaxRecordBytes = kChunkBytes / 2;
/// Longer names of callsites made at run time are cut, because each chunk describes the callsites of its records and of
/// the spans around them.
inline constexpr std::size_t kMaxRunTimeName = kChunkBytes / 16;

/// The size of the longest beginning of at most `size` bytes that ends with a whole character.
constexpr std::size_t cut_size(std::string_view text, std::size_t size) noexcept {
  if (text.size() <= size) return text.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return size;
}

/// The track of marks.
inline constexpr std::uint64_t kMarksTrack = (std::uint64_t{1} << 24) - 1;

/// Returns the key of the span that a track opened as its `ordinal`-th, counted from 0.
constexpr std::uint64_t make_span_key(std::uint64_t track, std::uint64_t ordinal) noexcept {
  return track << 40 | (ordinal & ((std::uint64_t{1} << 40) - 1));
}

/// Begins the content of a `site` record. The entries of fields and unnamed values follow, then the entries of
/// placeholders, the text, the file's name and the statement's arguments.
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
  std::uint32_t text_size;  // the names above in this order, then names of fields and specifications
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
inline constexpr std::uint8_t kSiteIsForCaller = 64;

struct SiteField {
  std::uint32_t offset;          // in the text, or in the arguments if unnamed
  std::uint32_t size_and_value;  // the size; from bit 24, the index of the value
};
struct SitePlaceholder {
  std::uint32_t offset;
  std::uint32_t spec_offset;
  std::uint16_t spec_size;
  std::uint16_t value_index;
};

}}}  // namespace tracing::v1::internal
