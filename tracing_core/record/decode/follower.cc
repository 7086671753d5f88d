#include "tracing_core/record/follower.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/recording_state.h"

namespace tracing { inline namespace v1 { namespace recording {

using internal::ChunkHead;
using internal::offset_of_head;

class Follower::State {
 public:
  State(std::unique_ptr<RecordingSource> source, std::uint64_t process) noexcept
      : source_(std::move(source)), process_(process) {}

  std::unique_ptr<RecordingState> read_new(bool is_last);
  std::unique_ptr<RecordingState> read_all() const;
  bool is_new(Entry const& entry) const;
  std::uint64_t lost() const noexcept { return lost_; }
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

  static SeenChunk look_at(internal::ChunkHead const& head) noexcept;
  std::size_t take(SeenTrack& track, std::vector<RecordedChunk*> const& chunks, bool is_last);
  void forget_ended_tracks();

  std::unique_ptr<RecordingSource> const source_;
  std::uint64_t const process_;
  std::uint64_t lost_ = 0;
  std::unordered_map<std::uint32_t, SeenChunk> chunks_;  // by number
  std::unordered_map<std::uint64_t, SeenTrack> tracks_;  // by number
};

// ---- what callers see ----

Follower::Follower(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Follower::~Follower() = default;

std::unique_ptr<Follower> Follower::open(std::string const& path, std::string& error) {
  auto source = open_source(path, error);
  if (source == nullptr) return nullptr;
  auto const header = RecordingState::read_header(*source, error);
  if (header == nullptr) return nullptr;
  return std::unique_ptr<Follower>(new Follower(std::make_unique<State>(std::move(source), header->process)));
}

std::unique_ptr<Recording> Follower::read_new(bool is_last) {
  auto state = state_->read_new(is_last);
  return state == nullptr ? nullptr : std::make_unique<Recording>(std::move(state));
}
std::unique_ptr<Recording> Follower::read_all() const {
  auto state = state_->read_all();
  return state == nullptr ? nullptr : std::make_unique<Recording>(std::move(state));
}
bool Follower::is_new(Entry const& entry) const { return state_->is_new(entry); }
std::uint64_t Follower::lost() const noexcept { return state_->lost(); }
std::uint64_t Follower::process() const noexcept { return state_->process(); }

// ---- chunks ----

std::unique_ptr<RecordingState> Follower::State::read_all() const {
  std::string error;
  return RecordingState::read(*source_, 0, error);
}

// Zeros if it has no records.
Follower::State::SeenChunk Follower::State::look_at(internal::ChunkHead const& head) noexcept {
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  if (generation % 2 != 0) return {};
  return {head.track, generation, head.used.load(std::memory_order_relaxed)};
}

std::unique_ptr<RecordingState> Follower::State::read_new(bool is_last) {
  std::string error;
  auto recording = RecordingState::read_header(*source_, error);
  if (recording == nullptr) return nullptr;
  CutOff cut;  // reported by read_all()
  bool has_new = false;
  source_->for_each_chunk([&](std::uint32_t i, internal::ChunkHead const& head) {
    SeenChunk const now = look_at(head);
    if (now.track == 0) return;
    auto const seen = chunks_.find(i);
    if (seen != chunks_.end() && now == seen->second) return;
    has_new = true;
    recording->read_chunk(*source_, i, head, RecordingState::Content::records, cut);
  });
  if (!has_new) return nullptr;
  source_->for_each_chunk([&](std::uint32_t i, internal::ChunkHead const& head) {
    recording->read_chunk(*source_, i, head, RecordingState::Content::sites, cut);
  });
  for (auto& [number, chunks] : recording->chunks_by_track()) {
    chunks.resize(take(tracks_[number], chunks, is_last));
    if (!chunks.empty()) recording->add_track(std::move(chunks));
  }
  recording->sort_threads();
  forget_ended_tracks();
  return recording;
}

// Returns how many of the chunks are read now; the others wait for records that are missing before them.
std::size_t Follower::State::take(SeenTrack& track, std::vector<RecordedChunk*> const& chunks, bool is_last) {
  track.new_from = track.next;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    RecordedChunk const& chunk = *chunks[i];
    if (chunk.first_record > track.next) {
      if (track.waited_for != track.next && !is_last) {
        track.waited_for = track.next;
        return i;
      }
      lost_ += chunk.first_record - track.next;
    }
    track.next = std::max(track.next, chunk.first_record + chunk.records);
    chunks_[chunk.number] = {chunk.track, chunk.generation, chunk.bytes};
  }
  return chunks.size();
}

bool Follower::State::is_new(Entry const& entry) const {
  auto const track = tracks_.find(entry.chunk_track);
  return track != tracks_.end() && entry.ordinal >= track->second.new_from;
}

// A thread that ended keeps no chunk, so a program may have had more threads than the file has chunks.
void Follower::State::forget_ended_tracks() {
  if (tracks_.size() < 2 * chunks_.size()) return;
  std::unordered_set<std::uint64_t> present;
  for (auto const& [number, chunk] : chunks_) present.insert(chunk.track);
  std::erase_if(tracks_, [&present](auto const& track) {
    bool const waits = track.second.waited_for == track.second.next;
    return !waits && !present.contains(track.first);
  });
}

}}}  // namespace tracing::v1::recording
