// The parts of a RecordingState: where its bytes come from, and its chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/record/decode/site_reader.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/chunk_clock.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 {

namespace internal {
class Region;
}

namespace recording {

template <class T>
T load(char const* at) noexcept {
  T out;
  std::memcpy(&out, at, sizeof(T));
  return out;
}

// Bytes that another process or thread may be writing to.
class RecordingSource {
 public:
  RecordingSource() = default;
  RecordingSource(RecordingSource const&) = delete;
  RecordingSource& operator=(RecordingSource const&) = delete;
  virtual ~RecordingSource() = default;
  virtual std::size_t size() const noexcept = 0;
  // Returns how many bytes there are, which is less than `bytes` at the end.
  virtual std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept = 0;
  // Returns the offset of the next bytes that are not in a hole of the file (holes read as zeros). Returns SIZE_MAX if
  // only holes follow, and `offset` if it is behind the end or if the file system does not know.
  virtual std::size_t next_data(std::size_t offset) const noexcept { return offset; }
  // True if bytes can be read again later. They may have changed by then.
  virtual bool can_read_later() const noexcept { return false; }
  // Says why the source ends too early; empty if it does not, or if the reason is not known yet.
  virtual std::string problem() const { return {}; }

  // Calls `f(number, ChunkHead const&)` for each chunk that was ever used. The heads of a group are read at once.
  template <class F>
  void for_each_chunk(F&& f) const {
    using namespace internal;
    alignas(ChunkHead) char bytes[kChunksPerGroup * sizeof(ChunkHead)];
    std::size_t const end = size();
    for (std::uint32_t first = 0; first < kMaxChunks && offset_of_head(first) < end;) {
      std::size_t const there = read(offset_of_head(first), bytes, sizeof(bytes)) / sizeof(ChunkHead);
      bool has_used = false;
      for (std::uint32_t i = 0; i < there; ++i) {
        auto const& head = *reinterpret_cast<ChunkHead const*>(bytes + i * sizeof(ChunkHead));
        if (head.generation.load(std::memory_order_relaxed) == 0) continue;
        has_used = true;
        f(first + i, head);
      }
      first = has_used ? first + kChunksPerGroup : next_group(first);
    }
  }

 private:
  // Twice as many as a writer makes: a damaged file may have any size.
  static constexpr std::uint32_t kMaxChunks = 1 << 27;

  std::uint32_t next_group(std::uint32_t first) const noexcept;
};

// ChunkSummary: the threads, times, tags, callsites and spans of a chunk, for RecordingState::narrow(). Made by the
// first reading.
class ChunkSummary {
 public:
  // Adds a record that is at an offset in the chunk. In the header, since every record of a file passes here.
  void add(internal::RecordHead const& head, std::string_view content, std::size_t offset) {
    using internal::RecordType;
    last_ticks_ = std::max(last_ticks_, head.ticks);
    if ((head.flags & internal::kForeign) != 0 || (head.flags & internal::kParentMask) == 2) needs_all_ = true;
    if ((head.flags & internal::kRestated) == 0) {
      has_begun_ = true;
    } else if (head.type == RecordType::state) {
      std::size_t const bytes = sizeof(head) + content.size();
      if (bytes > kMaxDescription || (!has_begun_ && offset + bytes > kMaxDescriptions)) stands_alone_ = false;
    }
    switch (head.type) {
      case RecordType::scope_begin: ++rise_; return add_callsite(head.site);
      case RecordType::scope_end: lowest_ = std::min(lowest_, --rise_); return;
      case RecordType::event:
      case RecordType::state: return add_callsite(head.site);
      case RecordType::track:
      case RecordType::thread: ++threads_; return;
      case RecordType::tag:
        if (more_tags_.empty() || more_tags_.back() != head.site) more_tags_.push_back(head.site);
        return;
      case RecordType::mark: has_marks_ = true; return;
      case RecordType::clock:
        if (content.size() < 16) return;
        ns_ = load<std::int64_t>(content.data());
        ns_per_tick_ = load<std::uint64_t>(content.data() + 8);
        return;
      case RecordType::site:
      case RecordType::timed: return;
      default: needs_all_ = true; return;
    }
  }

  // False if it describes so many or so long spans that the writer may have cut the descriptions.
  bool stands_alone() const noexcept { return stands_alone_; }
  // True if some records are about other tracks, or about spans that are not scopes of this track.
  bool needs_all() const noexcept { return needs_all_; }
  bool has_marks() const noexcept { return has_marks_; }
  // The number of descriptions of the thread that writes the chunk.
  std::uint32_t threads() const noexcept { return threads_; }
  // Since first_ticks of the chunk.
  std::uint32_t last_ticks() const noexcept { return last_ticks_; }
  // The clock from first_ticks on, if the chunk has a clock.
  std::optional<internal::ChunkClock> clock(std::uint64_t first_ticks) const noexcept {
    if (ns_per_tick_ == 0) return std::nullopt;
    return internal::ChunkClock{first_ticks, ns_, ns_per_tick_};
  }
  // The number of spans that it opens less the number of spans that it ends.
  std::int32_t rise() const noexcept { return rise_; }
  // The least value of this difference on the way, at most zero.
  std::int32_t lowest() const noexcept { return lowest_; }
  // The numbers of the callsites of events and spans. REQUIRES: has_all_callsites().
  std::vector<std::uint32_t> const& callsites() const noexcept { return callsites_; }
  bool has_all_callsites() const noexcept { return callsites_.size() < kMaxCallsites; }
  // The tags that its records have in addition to the first.
  std::vector<std::uint32_t> const& more_tags() const noexcept { return more_tags_; }

 private:
  static constexpr std::size_t kMaxCallsites = 64;
  // Bytes of the descriptions that begin a chunk, and of one description. The writer cuts no smaller ones.
  static constexpr std::size_t kMaxDescriptions = 2048, kMaxDescription = 1024;

  void add_callsite(std::uint32_t number) {
    if (!has_all_callsites() || std::find(callsites_.begin(), callsites_.end(), number) != callsites_.end()) return;
    callsites_.push_back(number);
  }

  std::int64_t ns_ = 0;
  std::uint64_t ns_per_tick_ = 0;
  std::uint32_t last_ticks_ = 0;
  std::uint32_t threads_ = 0;
  std::int32_t rise_ = 0, lowest_ = 0;
  bool stands_alone_ = true;
  bool needs_all_ = false;
  bool has_marks_ = false;
  bool has_begun_ = false;  // has records besides descriptions
  std::vector<std::uint32_t> callsites_;
  std::vector<std::uint32_t> more_tags_;
};

struct RecordedChunk {
  std::uint64_t generation = 0;
  std::uint64_t track = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t first_record = 0;
  std::uint64_t first_span = 0;
  std::uint32_t tag = 0;
  std::uint32_t number = 0;   // its place in the recording
  std::uint32_t bytes = 0;    // the size of its records
  std::uint32_t records = 0;  // without the restated ones
  // The records. Empty if they are read when they are needed: see RecordingState::records_of().
  std::vector<std::uint64_t> words{};
  std::vector<std::unique_ptr<RecordedSite>> sites{};  // described in it, from kLocalSite + 1
  std::string thread{};                                // the content of its last `track` record
  ChunkSummary summary{};
  bool is_sound = true;      // all its bytes are records
  bool is_left_out = false;  // see RecordingState::narrow()
  // Set by narrow() for a chunk that is left out: the number of spans that are open where it begins and that its reader
  // does not know. Empty if no span that its reader knows ends in the chunk.
  std::optional<std::int64_t> unknown_spans{};

  char const* data() const noexcept { return reinterpret_cast<char const*>(words.data()); }
  std::size_t size() const noexcept { return words.size() * 8; }
  void cut_off(std::size_t bytes_there);
  bool can_be_left_out() const noexcept { return is_sound && !summary.has_marks() && summary.has_all_callsites(); }
};

// Opens a recording, `x.rec` or `x.rec.gz`, also in a TAR: `run.tar/x.rec`. On failure, returns null and sets `error`
// to the reason.
std::unique_ptr<RecordingSource> open_source(std::string const& path, std::string& error);
// Makes a source of a region that other threads write to. The region must outlive it.
std::unique_ptr<RecordingSource> source_of(internal::Region const& region);
// Opens a file, or a part of it, as it is.
std::unique_ptr<RecordingSource> open_bytes(std::string const& path, std::string& error, std::size_t begin = 0,
                                            std::size_t size = SIZE_MAX);

// The chunks that lack records because the file is only the beginning of a longer file.
struct CutOff {
  std::uint32_t first = 0;
  std::size_t there = 0, of = 0;  // the bytes of the first such chunk: in the file, and in all
  std::uint32_t chunks = 0;

  void add(std::uint32_t number, std::size_t bytes_there, std::size_t bytes) noexcept {
    if (chunks++ == 0) first = number, there = bytes_there, of = bytes;
  }
  std::string description() const;
};

// The largest number that a callsite may have: at most as many as the file has room to describe, and at most one for
// each byte of records, so that the table of callsites stays small. The first 65,536 numbers are always valid: a part
// of a recording may lack the descriptions before its own.
constexpr std::size_t max_sites_in(std::size_t file_bytes, std::size_t record_bytes) noexcept {
  constexpr std::size_t kFirst = 1 << 16;
  return std::min(file_bytes / (sizeof(internal::RecordHead) + sizeof(internal::SiteRow)), kFirst + record_bytes);
}

// As read_thread() of a DescribedThread, but keeps the name.
bool read_thread(std::string_view content, Thread& thread);

}  // namespace recording
}}  // namespace tracing::v1
