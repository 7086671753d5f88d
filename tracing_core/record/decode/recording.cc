#include "tracing_core/record/recording.h"

#include <algorithm>
#include <utility>

#include "tracing_core/record/decode/entry_reader.h"

namespace tracing { inline namespace v1 { namespace recording {

using internal::kMaxTag;
using internal::RecordHead;
using internal::RegionHeader;

Recording::Recording(std::unique_ptr<RecordingState> state) noexcept : state_(std::move(state)) {}
Recording::~Recording() = default;

void Recording::visit(void (*each)(void* context, Entry const& entry), void* context) {
  EntriesInOrder entries(*state_);
  while (Entry const* const entry = entries.next()) each(context, *entry);
}

bool Recording::narrow_to(bool (*is_wanted)(void* context, Piece const& piece), void* context) {
  return state_->narrow(is_wanted, context);
}

void Recording::narrow_to_marks() noexcept { state_->narrow_to_marks(); }
void Recording::widen() noexcept { state_->widen(); }

std::vector<Metadata const*> Recording::callsites_left_out() const {
  std::vector<Metadata const*> all;
  for (RecordedChunk const& chunk : state_->chunks) {
    if (!chunk.is_left_out) continue;
    for (std::uint32_t const number : chunk.summary.callsites()) {
      Metadata const* const callsite = state_->callsite(chunk, number);
      if (callsite != nullptr && (all.empty() || all.back() != callsite)) all.push_back(callsite);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Recording::has(EntryType type) const noexcept { return state_->count_of(type) > 0; }
bool Recording::runs_tests() const noexcept { return state_->count_of(EntryType::mark) > 1; }

std::uint64_t Recording::entry_count() const noexcept {
  std::uint64_t count = 0;
  for (RecordedChunk const& chunk : state_->chunks) count += chunk.records;
  return count;
}

std::size_t Recording::size_bytes() const noexcept { return state_->size_bytes(); }
std::uint64_t Recording::process() const noexcept { return state_->process; }
int Recording::growth_error() const noexcept { return state_->growth_error; }
Instant Recording::start() const noexcept { return state_->clock.time_of(state_->from_ticks); }
void Recording::start_at(std::uint64_t ticks) noexcept { state_->from_ticks = ticks; }
Instant Recording::end() const noexcept {
  return state_->end_ticks == 0 ? Instant{} : state_->clock.time_of(state_->end_ticks);
}
void Recording::end_at(std::uint64_t ticks) noexcept { state_->end_ticks = ticks; }
std::vector<TrackSummary> const& Recording::tracks() const noexcept { return state_->tracks; }
std::vector<Thread> const& Recording::threads() const noexcept { return state_->threads; }
Thread Recording::thread(std::uint64_t number) const { return state_->thread(number); }
std::uint64_t Recording::dropped() const noexcept { return state_->dropped; }
std::uint64_t Recording::interrupted() const noexcept { return state_->interrupted; }
std::vector<std::string> const& Recording::problems() const noexcept { return state_->problems; }

// The ordinals of tracks also show losses of tags that have no entry in the header. They do not show the losses of
// threads of which no record is left.
Losses Recording::lost() const noexcept {
  Losses of_tags;
  for (auto const& [tag, records] : state_->losses) {
    of_tags.count += records;
    of_tags.is_exact &= tag < internal::RegionHeader::kLossEntries;
  }
  std::uint64_t of_tracks = 0;
  for (TrackSummary const& track : state_->tracks) of_tracks += track.lost;
  return {std::max(of_tags.count, of_tracks), of_tags.is_exact};
}

std::uint64_t Recording::lost_of(std::uint32_t tag) const noexcept {
  auto const found = state_->losses.find(tag & internal::kMaxTag);
  return found == state_->losses.end() ? 0 : found->second;
}

}}}  // namespace tracing::v1::recording
