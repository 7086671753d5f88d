// RegionReader: reads a recording of this process again and again, each time what is new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/record/decode/entry_reader.h"
#include "tracing_core/record/ring/region.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Reads what a region contains while other threads write to it. Takes time for what is new, and about a nanosecond for
/// each chunk of the region. Thread-compatible.
class RegionReader {
 public:
  /// Reads at least the records from `from_ticks`. `region` must outlive it.
  RegionReader(internal::Region const& region, std::uint64_t from_ticks);
  RegionReader(RegionReader const&) = delete;
  RegionReader& operator=(RegionReader const&) = delete;

  /// Calls `f(Entry const&)` for each entry up to `until` (ticks) that no earlier call visited, in the order of time.
  /// The metadata of an entry is valid as long as the reader. Returns false, and visits nothing, if entries that were
  /// missed or published late belong before entries that were visited: only a new reader visits all in order. If it
  /// throws, the reader must not be used again.
  template <class F>
  bool visit_new(std::uint64_t until, F&& f) {
    if (!read_new()) return false;
    Entry const* entry = entries_.next(until);
    if (entry != nullptr && place_of(*entry) < last_) return false;
    for (; entry != nullptr; entry = entries_.next(until)) {
      last_ = place_of(*entry);
      f(*entry);
    }
    release_chunks();
    return true;
  }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;
  struct KnownChunk {
    std::uint64_t generation = 0;
    std::uint32_t used = 0;
    RecordedChunk* chunk = nullptr;  // null if its records are not needed
  };
  struct Track {
    TrackSummary summary{};
    std::vector<RecordedChunk*> chunks{};
    std::vector<RecordedChunk*> added{};  // by the present call
    std::unique_ptr<EntryReader> reader{};
    std::size_t released = 0;  // how many of the chunks
    bool has_grown = false;
  };

  static Place place_of(Entry const& entry) noexcept { return {entry.ticks, entry.writer}; }
  bool read_new();
  bool read_changed(RecordingState::Content content);
  bool read_chunk(std::uint32_t number, KnownChunk& known, RecordingState::Content content);
  bool append(Track& track);
  void release_chunks();

  internal::Region const& region_;
  std::uint64_t const from_ticks_;
  std::unique_ptr<RecordingSource const> const source_;
  std::unique_ptr<RecordingState> state_;
  std::vector<KnownChunk> known_;          // by number
  std::map<std::uint64_t, Track> tracks_;  // by number
  EntriesInOrder entries_;
  Place last_{};
};

}}}  // namespace tracing::v1::recording
