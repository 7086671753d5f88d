// The parts of a Recording: where its bytes come from, its chunks, and the records of one track.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/record/reader.h"
#include "tracing_core/record/value_reader.h"

namespace tracing::inline v1::internal {

template <class T>
T load(char const* at) noexcept {
  T out;
  std::memcpy(&out, at, sizeof(T));
  return out;
}

// Bytes that another process or thread may be writing to.
class Recording::Source {
 public:
  Source() = default;
  Source(Source const&) = delete;
  Source& operator=(Source const&) = delete;
  virtual ~Source() = default;
  virtual std::size_t size() const noexcept = 0;
  // Returns how many bytes there are, which is less than `bytes` at the end.
  virtual std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept = 0;
  // Where the next bytes are that are not a hole of the file, which reads as zeros; SIZE_MAX if there are none; `offset` if
  // it is behind the end, or if that is not known.
  virtual std::size_t next_data(std::size_t offset) const noexcept { return offset; }

  // Calls `f(number)` for each chunk, but for those in holes of the file; `f` returns whether the chunk was ever used.
  template <class F>
  void for_each_chunk(F&& f) const {
    std::size_t const end = size();
    for (std::uint32_t i = 0; i < kMaxChunks && offset_of_head(i) < end;) i = f(i) ? i + 1 : next_chunk(i);
  }

 private:
  // Twice as many as a writer makes. The file may be longer, and its size any number.
  static constexpr std::uint32_t kMaxChunks = 1 << 27;

  std::uint32_t next_chunk(std::uint32_t number) const noexcept;
};

struct Recording::Chunk {
  std::uint64_t generation = 0;
  std::uint64_t track = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t first_record = 0;
  std::uint64_t first_span = 0;
  std::uint32_t tag = 0;
  std::uint32_t number = 0;  // its place in the recording
  std::vector<std::uint64_t> words{};
  std::vector<std::unique_ptr<RecordedSite>> sites{};  // described in it, from kLocalSite + 1
  std::string_view thread{};  // the content of its last `track` record

  char const* data() const noexcept { return reinterpret_cast<char const*>(words.data()); }
  std::size_t size() const noexcept { return words.size() * 8; }
  void cut_off(std::size_t bytes);
  template <class F>
  void for_each_head(F&& f) const {
    for (std::size_t at = 0; at + sizeof(RecordHead) <= size();) {
      auto const head = load<RecordHead>(data() + at);
      if (head.words < 2) break;
      f(head);
      at += std::size_t{head.words} * 8;
    }
  }
  // How many records it has that were not made before.
  std::uint64_t record_count() const noexcept;
};

// Chunks of which the file has not all records, since it is the beginning of a longer one.
struct Recording::Cut {
  std::uint32_t first = 0;
  std::size_t there = 0, of = 0;  // bytes of the first one's records
  std::uint32_t chunks = 0;

  void add(std::uint32_t number, std::size_t bytes_there, std::size_t bytes) noexcept {
    if (chunks++ == 0) first = number, there = bytes_there, of = bytes;
  }
  std::string description() const;
};

// The numbers of callsites are no larger than the number of descriptions that the recording has room for, and than this
// for each byte of its records, so that the table is not larger either. The first ones are always valid: a part of a
// recording may lack the descriptions before its own.
constexpr std::size_t max_sites_in(std::size_t file_bytes, std::size_t record_bytes) noexcept {
  constexpr std::size_t kFirst = 1 << 16;
  return std::min(file_bytes / (sizeof(RecordHead) + sizeof(SiteRow)), kFirst + record_bytes);
}

// Reads the content of a `track` record, except its number. False if it makes no sense.
bool read_thread(std::string_view content, RecordedThread& thread);

// The innermost entry of `stack` that `is_it` accepts, `stack.rend()` if there is none. Of the last thousand, or a file
// that leaves spans in which it is not would take time with the square of its size.
template <class Stack, class F>
auto find_innermost(Stack& stack, F is_it) {
  auto const end = stack.rbegin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(stack.size(), 1000));
  auto const found = std::find_if(stack.rbegin(), end, is_it);
  return found == end ? stack.rend() : found;
}

// Reads the records of a track, one after the other.
class Recording::Cursor {
 public:
  Cursor(Recording& recording, RecordedTrack& track, std::vector<Chunk*> const& chunks);
  Cursor(Cursor const&) = delete;
  Cursor& operator=(Cursor const&) = delete;

  // Goes to the next record; false at the end.
  bool next();
  RecordEntry const& entry() const noexcept { return entry_; }

 private:
  Chunk const& chunk() const noexcept { return *chunks_[chunk_]; }
  void begin_chunk();
  bool fail(char const* what);
  bool read_record();
  bool decode(RecordHead const& head);
  bool decode_usual(RecordHead const& head);
  void read_clock();
  void go_to_thread();
  void decode_place(RecordHead const& head);
  void read_values(RecordHead const& head, std::string_view more_kinds, std::size_t count);
  Value read_value(std::uint8_t kind);
  RecordedSite const* site_of(std::uint32_t number) const noexcept;
  std::uint64_t innermost() const noexcept { return stack_.empty() ? 0 : stack_.back(); }

  Recording& recording_;
  RecordedTrack& track_;
  std::vector<Chunk*> const& chunks_;
  std::size_t chunk_ = 0;
  std::size_t at_ = 0;  // in the chunk
  ValueReader rest_;       // of the record
  std::uint64_t ordinal_ = 0;
  std::uint64_t span_ = 0;
  std::uint32_t tag_ = 0;
  ChunkClock clock_;
  std::vector<std::uint64_t> stack_;
  bool knows_stack_ = false;  // the chunk before it is there
  RecordEntry entry_;
  std::vector<Value> values_;
  std::deque<std::string> cut_texts_;
};

}  // namespace tracing::inline v1::internal
