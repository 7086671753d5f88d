// Decoder: reads the records of a track of a recording, chunk after chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/record/decode/span_tracker.h"
#include "tracing_core/record/decode/value_reader.h"
#include "tracing_core/record/entry.h"
#include "tracing_core/record/ring/chunk_clock.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

/// The callsites to which the records of a chunk refer.
class SiteSource {
 public:
  /// Returns null if the recording does not describe the callsite. The metadata is valid until the next call.
  virtual Metadata const* find(std::uint32_t number) noexcept = 0;

 protected:
  ~SiteSource() = default;
};

/// The pieces of a single record, without the context of other records. Borrows the record's bytes. Allocates nothing.
struct RecordPieces {
  internal::RecordHead head{};
  Metadata const* metadata = nullptr;  ///< null for types that have no callsite
  std::uint64_t track = 0;             ///< with kForeign: the track that the record is about
  std::int64_t time_ns = 0;            ///< with kForeign: since 1970
  std::uint64_t references[3] = {};    ///< spans and a duration, in the order of the bytes
  std::size_t value_count = 0;         ///< zero if the record has no values, even if its callsite has some
  std::string_view more_kinds{};       ///< of the values from the fifth on
  ValueReader rest{};                  ///< the values; for types without values, the content
  char const* error = nullptr;         ///< says what makes no sense; null if all makes sense

  /// Reads the first record of `bytes`, the rest of a chunk.
  void read(std::string_view bytes, SiteSource& sites) noexcept;

  std::size_t size() const noexcept { return std::size_t{head.words} * 8; }
  bool has_explicit_parent() const noexcept { return (head.flags & internal::kParentMask) == 2; }
  bool is_foreign() const noexcept { return (head.flags & internal::kForeign) != 0; }
  /// Calls `f(index, Value const&, std::uint32_t whole_size)` for each value. `whole_size` is zero unless the value is
  /// the beginning of a text of that size. Returns what makes no sense, or null.
  template <class F>
  char const* for_each_value(F&& f) const {
    ValueReader values = rest;
    for (std::size_t i = 0; i < value_count; ++i) {
      auto const kind = i < internal::kInlineKinds ? head.kinds[i]
                                                   : static_cast<std::uint8_t>(more_kinds[i - internal::kInlineKinds]);
      std::uint32_t whole_size = 0;
      Value const value = values.take_value(kind, whole_size);
      if (values.error() != nullptr) return values.error();
      f(i, value, whole_size);
    }
    return nullptr;
  }

 private:
  void read_usual(SiteSource& sites) noexcept;
  std::size_t reference_count() const noexcept;
};

/// The records of a chunk, and what its head says about them.
struct ChunkRecords {
  std::string_view bytes{};
  std::uint64_t first_ticks = 0;
  std::uint64_t first_record = 0;
  std::uint64_t first_span = 0;
  std::uint32_t tag = 0;
};

/// A thread as a record describes it.
struct DescribedThread {
  std::int64_t os_thread = 0;
  std::string_view name{};  ///< borrowed from the record
};
/// Reads the content of a `track` record, or of a `thread` record after its number. Returns false if it makes no sense.
bool read_thread(std::string_view content, DescribedThread& thread) noexcept;

/// Decodes the records of a track. All readers use it: recordings, reports of crashes and hangs, and replay. Accepts
/// any bytes: the first bytes that are not a valid record end the chunk. Allocates nothing if the tracker of its spans
/// does not grow; it may then run in a signal handler. Single-thread.
class Decoder {
 public:
  /// Borrows its arguments; `spans` is for the spans that the track is in.
  Decoder(std::uint64_t track, SiteSource& sites, SpanTracker<std::uint64_t>& spans) noexcept
      : track_(track), sites_(sites), spans_(spans), thread_(track) {}

  /// Forgets what was read before: the next chunk then says which spans the track is in.
  void forget_spans() noexcept {
    spans_.clear();
    has_begun_ = false;
  }
  /// Goes to a chunk of the track, whose bytes are borrowed. If its first record directly follows the last record read,
  /// the track is still in its spans; otherwise the chunk says which spans it is in. `clock` gives the times of records
  /// before the chunk's own clock. Returns how many records are missing before the chunk.
  std::uint64_t begin(ChunkRecords const& chunk, internal::ChunkClock const& clock) noexcept;
  /// Passes over a chunk of the track, which is not read: the next chunk says which spans the track is in. Returns how
  /// many records are missing before the chunk.
  std::uint64_t pass(std::uint64_t first_record, std::uint64_t records) noexcept;
  /// Takes the bytes of the same chunk after it has grown.
  void extend(std::string_view bytes) noexcept { chunk_.bytes = bytes; }
  /// Goes to the next record of the chunk, and fills in all of `record` but its values, its context and the names that
  /// it borrows. Returns false at the end of the chunk, and where its bytes make no sense: then error() says why.
  bool next(Entry& record);
  char const* error() const noexcept { return error_; }

  // About the record of the last next().
  RecordPieces const& pieces() const noexcept { return pieces_; }
  /// True if this version knows the type of the record.
  bool is_known() const noexcept {
    return pieces_.head.type >= internal::RecordType::site && pieces_.head.type <= internal::RecordType::thread;
  }
  /// True if the record is about the program. Others are about the recording itself, such as callsites.
  bool is_entry() const noexcept;
  /// True if the record describes the thread that writes the track from here on.
  bool describes_writer() const noexcept;
  /// The description of this thread.
  DescribedThread const& described_thread() const noexcept { return described_; }
  /// The offsets in the chunk of the record and of the record after it.
  std::size_t at() const noexcept { return at_; }
  std::size_t next_at() const noexcept { return next_; }

  /// The thread that writes the track now.
  std::uint64_t thread() const noexcept { return thread_; }

 private:
  void decode(Entry& record);
  void follow_spans(Entry& record);
  void leave_scope(Entry& record) noexcept;
  void go_to_thread(std::uint64_t number) noexcept;

  std::uint64_t const track_;
  SiteSource& sites_;
  SpanTracker<std::uint64_t>& spans_;
  bool has_begun_ = false;
  bool knows_spans_ = false;  // the chunk before this one was read, and the thread is the same
  ChunkRecords chunk_;
  internal::ChunkClock clock_;
  std::size_t at_ = 0, next_ = 0;
  std::uint64_t ordinal_ = 0;  // ordinal of the next record
  std::uint64_t span_ = 0;     // ordinal of the next span
  std::uint32_t tag_ = 0;
  std::uint64_t thread_;
  RecordPieces pieces_;
  DescribedThread described_;
  char const* error_ = nullptr;
};

}}}  // namespace tracing::v1::recording
