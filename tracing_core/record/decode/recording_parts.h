// The parts of a RecordingState: where its bytes come from, and its chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/record/decode/site_reader.h"
#include "tracing_core/record/recording.h"
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

  // Calls `f(number)` for each chunk that is not in a hole of the file; `f` returns true if the chunk was ever used.
  template <class F>
  void for_each_chunk(F&& f) const {
    std::size_t const end = size();
    for (std::uint32_t i = 0; i < kMaxChunks && internal::offset_of_head(i) < end;) i = f(i) ? i + 1 : next_chunk(i);
  }

 private:
  // Twice as many as a writer makes: a damaged file may have any size.
  static constexpr std::uint32_t kMaxChunks = 1 << 27;

  std::uint32_t next_chunk(std::uint32_t number) const noexcept;
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

  char const* data() const noexcept { return reinterpret_cast<char const*>(words.data()); }
  std::size_t size() const noexcept { return words.size() * 8; }
  void cut_off(std::size_t bytes_there);
  template <class F>
  void for_each_head(std::size_t from, F&& f) const {
    for (std::size_t at = from; at + sizeof(internal::RecordHead) <= size();) {
      auto const head = load<internal::RecordHead>(data() + at);
      if (head.words < 2) break;
      f(head);
      at += std::size_t{head.words} * 8;
    }
  }
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
