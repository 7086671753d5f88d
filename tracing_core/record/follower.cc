#include "tracing_core/record/follower.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "tracing_core/record/reader_parts.h"

namespace tracing::inline v1::internal {

RecordingFollower::RecordingFollower(std::unique_ptr<Recording::Source> source) noexcept : source_(std::move(source)) {}
RecordingFollower::~RecordingFollower() = default;

std::unique_ptr<RecordingFollower> RecordingFollower::open(std::string const& path, std::string& error) {
  auto source = Recording::open_file(path, error);
  if (source == nullptr) return nullptr;
  auto const header = Recording::read_header(*source, error);
  if (header == nullptr) return nullptr;
  std::unique_ptr<RecordingFollower> made(new RecordingFollower(std::move(source)));
  made->process_ = header->process();
  return made;
}

std::unique_ptr<Recording> RecordingFollower::read_all() const {
  std::string error;
  return Recording::read(*source_, 0, error);
}

// Zeros if it has no records.
RecordingFollower::SeenChunk RecordingFollower::look_at(std::uint32_t chunk) const noexcept {
  alignas(ChunkHead) char bytes[sizeof(ChunkHead)];
  auto const& head = *reinterpret_cast<ChunkHead const*>(bytes);
  if (source_->read(offset_of_head(chunk), bytes, sizeof(bytes)) < sizeof(bytes)) return {};
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  if (generation == 0 || generation % 2 != 0) return {};
  return {head.track, generation, head.used.load(std::memory_order_relaxed)};
}

std::unique_ptr<Recording> RecordingFollower::read_new(bool is_last) {
  std::string error;
  auto recording = Recording::read_header(*source_, error);
  if (recording == nullptr) return nullptr;
  Recording::Cut cut;  // reported by read_all()
  bool has_new = false;
  source_->for_each_chunk([&](std::uint32_t i) {
    SeenChunk const now = look_at(i);
    if (now.track == 0) return now.generation != 0;
    auto const seen = chunks_.find(i);
    if (seen != chunks_.end() && now == seen->second) return true;
    has_new = true;
    return recording->read_chunk(*source_, i, Recording::Content::records, cut);
  });
  if (!has_new) return nullptr;
  source_->for_each_chunk(
      [&](std::uint32_t i) { return recording->read_chunk(*source_, i, Recording::Content::sites, cut); });
  recording->read_descriptions(max_sites_in(source_->size(), recording->size_bytes()));
  for (auto& [number, chunks] : recording->chunks_by_track()) {
    chunks.resize(take(tracks_[number], chunks, is_last));
    if (!chunks.empty()) recording->add_track(std::move(chunks));
  }
  recording->sort_threads();
  forget_ended_tracks();
  return recording;
}

// Returns how many of the chunks are read now; the others wait for records that are missing before them.
std::size_t RecordingFollower::take(SeenTrack& track, std::vector<Recording::Chunk*> const& chunks, bool is_last) {
  track.new_from = track.next;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Recording::Chunk const& chunk = *chunks[i];
    if (chunk.first_record > track.next) {
      if (track.waited_for != track.next && !is_last) {
        track.waited_for = track.next;
        return i;
      }
      lost_ += chunk.first_record - track.next;
    }
    track.next = std::max(track.next, chunk.first_record + chunk.record_count());
    chunks_[chunk.number] = {chunk.track, chunk.generation, static_cast<std::uint32_t>(chunk.size())};
  }
  return chunks.size();
}

bool RecordingFollower::is_new(RecordEntry const& entry) const {
  auto const track = tracks_.find(entry.chunk_track);
  return track != tracks_.end() && entry.ordinal >= track->second.new_from;
}

// A thread that ended keeps no chunk, so a program may have had more threads than the file has chunks.
void RecordingFollower::forget_ended_tracks() {
  if (tracks_.size() < 2 * chunks_.size()) return;
  std::unordered_set<std::uint64_t> present;
  for (auto const& [number, chunk] : chunks_) present.insert(chunk.track);
  std::erase_if(tracks_, [&present](auto const& track) {
    bool const waits = track.second.waited_for == track.second.next;
    return !waits && !present.contains(track.first);
  });
}

}  // namespace tracing::inline v1::internal
