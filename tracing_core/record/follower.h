// RecordingFollower: reads a recording while a process writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

/// Reads only chunks that have changed, so a call costs little if little was recorded. Takes memory for what is new, and
/// a little for each chunk of the file. Single-thread.
class RecordingFollower {
 public:
  /// Null, and `error` says why, if there is no such file or it is no recording.
  static std::unique_ptr<RecordingFollower> open(std::string const& path, std::string& error);
  RecordingFollower(RecordingFollower const&) = delete;
  RecordingFollower& operator=(RecordingFollower const&) = delete;
  ~RecordingFollower();

  /// What was recorded since the last call; null if nothing was. It also has earlier records, since a chunk is read as
  /// a whole: replay only those for which is_new() holds, the others are their context. Each record is new once. Where
  /// records of a thread are missing, what follows them is new only in the next call: they may be in a chunk that was
  /// given out while the others were read. Pass `is_last` when the process has ended.
  std::unique_ptr<Recording> read_new(bool is_last);
  /// Whether a record of the last read_new() was not in an earlier one.
  bool is_new(RecordEntry const& entry) const;
  /// The number of records that were overwritten before they were read.
  std::uint64_t lost() const noexcept { return lost_; }

  /// All that is in the file now. Null if it is no recording any more.
  std::unique_ptr<Recording> read_all() const;
  std::uint64_t process() const noexcept { return process_; }

 private:
  struct SeenChunk {
    std::uint64_t track = 0;
    std::uint64_t generation = 0;
    std::uint32_t used = 0;
    friend bool operator==(SeenChunk const&, SeenChunk const&) = default;
  };
  struct SeenTrack {
    std::uint64_t new_from = 0;  // ordinals
    std::uint64_t next = 0;
    std::uint64_t waited_for = UINT64_MAX;  // a record that was missing in an earlier call
  };

  explicit RecordingFollower(std::unique_ptr<Recording::Source> source) noexcept;
  SeenChunk look_at(std::uint32_t chunk) const noexcept;
  std::size_t take(SeenTrack& track, std::vector<Recording::Chunk*> const& chunks, bool is_last);
  void forget_ended_tracks();

  std::unique_ptr<Recording::Source> const source_;
  std::uint64_t process_ = 0;
  std::uint64_t lost_ = 0;
  std::unordered_map<std::uint32_t, SeenChunk> chunks_;  // by number
  std::unordered_map<std::uint64_t, SeenTrack> tracks_;  // by number
};

}  // namespace tracing::inline v1::internal
