// The format of records in a RecordRing and its snapshots.
//
// A record is a header followed by one group of StoredValues, if it has values. Spans and tracks are referred to by
// their index in the ring's tables. Sizes are multiples of eight.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "tracing_core/collect/record_ring.h"

namespace tracing::inline v1::internal {

struct RecordHeader {
  std::uint32_t size;  // including this header
  RecordKind kind;
  Parent::Kind parent_kind;
  bool owned;               // an event whose metadata is retained
  std::uint8_t number_low;  // low byte of its number, to detect corrupt records
  std::uint32_t tag;
  LayerMask mask;
  std::int64_t time_ns;
  std::uint32_t track;
  std::uint32_t span;
  std::uint64_t extra;  // an event's metadata, the cause of follows_from; room for a StoredGroup

  static RecordHeader read(char const* at) noexcept {
    RecordHeader header;
    std::memcpy(&header, at, sizeof(header));
    return header;
  }
  Metadata const* event_metadata() const noexcept {
    return kind == RecordKind::event ? reinterpret_cast<Metadata const*>(static_cast<std::uintptr_t>(extra)) : nullptr;
  }
  std::uint32_t cause() const noexcept { return static_cast<std::uint32_t>(extra); }
  bool has_values() const noexcept { return size > sizeof(RecordHeader); }
};
static_assert(sizeof(RecordHeader) == 40 && offsetof(RecordHeader, extra) == 40 - sizeof(RecordedSpan::StoredGroup));

constexpr std::uint32_t kNoIndex = UINT32_MAX;

// The spans and the track of a record.
struct RecordParts {
  RecordedSpan const* span = nullptr;
  RecordedSpan const* cause = nullptr;
  Track track{};
};
// Fills `decoded` with the record's values, which are borrowed from `at`.
inline RecordView view_record(char const* at, RecordHeader const& header, std::uint64_t number,
                              RecordParts const& parts, Metadata const& metadata, DecodedValues& decoded) noexcept {
  FieldValues values(metadata);
  if (header.has_values()) {
    StoredValues::decode_group(at + sizeof(RecordHeader), 0, metadata, decoded);
    values = FieldValues(metadata, decoded.data());
  }
  RecordView view(values);
  view.kind = header.kind;
  view.parent_kind = header.parent_kind;
  view.number = number;
  view.tag = header.tag;
  view.mask = header.mask;
  view.time = Instant{header.time_ns};
  view.track = parts.track;
  view.span = parts.span;
  view.cause = parts.cause;
  return view;
}

// A RecordedSpan with the ring's own data. Its values are those that it had before the oldest stored record.
struct KnownSpan : RecordedSpan {
  std::uint32_t index = kNoIndex;
  std::uint32_t parent_index = kNoIndex;
  std::uint32_t references = 0;  // from its being open, records, children, tracks that are in it
  std::uint32_t track = kNoIndex;
  Parent::Kind parent_kind = Parent::Kind::contextual;
  bool known = false;
  bool made = false;  // its new_span record was overwritten; `values` has the values from it
  StoredGroup* last_more = nullptr;  // of `more_values`
  std::uint32_t more_count = 0;

  // Copies a known span whose parent is in `spans`. Does not retain its metadata.
  void assign(KnownSpan const& from, KnownSpan const* spans) noexcept;
};

// Adds a group to a span's values. If they grow large, keeps only the last value of each field.
void fold_values(RecordedSpan& span, char const* group, std::size_t size) noexcept;

struct KnownTrack {
  std::uint64_t number = 0;
  std::uint32_t references = 0;
  std::uint32_t index = kNoIndex;
  std::uint32_t name_size = 0;
  char name[52] = {};
  struct Entered {
    std::uint32_t span;
    std::int64_t time_ns;
  };
  std::vector<Entered> entered;  // before the oldest stored record, outermost first

  Track track() const noexcept { return {number, {name, name_size}}; }
};

}  // namespace tracing::inline v1::internal

namespace tracing::inline v1 {

struct RecordSnapshot::Content {
  std::vector<char> bytes;
  std::size_t record_count = 0;
  std::uint64_t oldest = 0;  // the number of the first record in `bytes`
  std::uint64_t first = 0;   // the number of the first requested record
  std::unique_ptr<internal::KnownSpan[]> spans;  // by index
  std::uint32_t span_count = 0;
  std::vector<internal::KnownTrack> tracks;  // by index

  ~Content();

  template <class F>
  void for_each_header(F&& f) const {
    for (std::size_t at = 0; at < bytes.size();) {
      internal::RecordHeader const header = internal::RecordHeader::read(bytes.data() + at);
      f(bytes.data() + at, header);
      at += header.size;
    }
  }
};

}  // namespace tracing::inline v1
