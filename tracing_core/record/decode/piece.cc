// How a reader leaves out most of a recording.
//
// Since any chunk may be overwritten, each begins with the thread and with the spans around its first record. So a
// reader can go on at any chunk, and learns from it what it would have learned before, if all spans are scopes of their
// thread: a handle may get values, or be entered twice in a chunk that is left out. The writer cuts long descriptions
// of spans; then the chunk before is read, too.
//
// A span that began in a chunk that is read may end in a chunk that is left out. Scopes end in the reverse order of
// their beginnings, so the spans that a reader knows are the outermost spans of the thread, and their number is enough
// to find the chunks in which such a span ends. These chunks are decoded for the ends alone. If records between two
// chunks were overwritten, nobody knows when spans ended, and everything is read if anything is wanted at all.
#include "tracing_core/record/piece.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tracing_core/record/decode/decoder.h"
#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/recording_state.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

namespace {

// The callsites of one chunk.
class ChunkSites final : public SiteSource {
 public:
  ChunkSites(RecordingState const& recording, RecordedChunk const& chunk) noexcept
      : recording_(recording), chunk_(chunk) {}
  Metadata const* find(std::uint32_t number) noexcept override { return recording_.callsite(chunk_, number); }

 private:
  RecordingState const& recording_;
  RecordedChunk const& chunk_;
};

// True if records between two chunks of a track were overwritten.
bool lacks_records(std::vector<RecordedChunk*> const& of_track) noexcept {
  return std::adjacent_find(of_track.begin(), of_track.end(), [](RecordedChunk const* a, RecordedChunk const* b) {
           return b->first_record != a->first_record + a->records;
         }) != of_track.end();
}

}  // namespace

Instant Piece::first() const noexcept {
  return chunk_.summary.clock(chunk_.first_ticks).value_or(recording_.clock).time_of(chunk_.first_ticks);
}
Instant Piece::last() const noexcept {
  ChunkSummary const& summary = chunk_.summary;
  return summary.clock(chunk_.first_ticks)
      .value_or(recording_.clock)
      .time_of(chunk_.first_ticks + summary.last_ticks());
}

bool Piece::has_one_thread(Thread& thread) const {
  thread.number = chunk_.track;
  return chunk_.summary.threads() == 1 && read_thread(chunk_.thread, thread);
}

bool Piece::any_tag(Test<std::uint32_t> f, void* context) const {
  auto const& more = chunk_.summary.more_tags();
  return f(context, chunk_.tag) ||
         std::any_of(more.begin(), more.end(), [&](std::uint32_t tag) { return f(context, tag); });
}

bool Piece::any_callsite(Test<Metadata const&> f, void* context) const {
  if (!chunk_.summary.has_all_callsites()) return true;
  auto const& numbers = chunk_.summary.callsites();
  return std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
    Metadata const* const callsite = recording_.callsite(chunk_, number);
    return callsite == nullptr || f(context, *callsite);
  });
}

bool Piece::any_span(Test<Metadata const&> is_wanted, void* wanted_context, Test<FieldValues const&> f,
                     void* context) const {
  // The outer spans of a deep stack may be missing.
  if (!chunk_.summary.stands_alone() || !chunk_.summary.has_all_callsites()) return true;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t const number : chunk_.summary.callsites()) {
    Metadata const* const callsite = recording_.callsite(chunk_, number);
    if (callsite == nullptr || is_wanted(wanted_context, *callsite)) wanted.push_back(number);
  }
  if (wanted.empty()) return false;
  std::string_view const records = recording_.records_of(chunk_, buffer_);
  if (records.size() != chunk_.bytes) return true;  // its reader says that it was overwritten
  ChunkSites sites(recording_, chunk_);
  RecordPieces pieces;
  std::vector<Value> values;
  for (std::size_t at = 0; at + sizeof(RecordHead) <= records.size();) {
    auto const head = load<RecordHead>(records.data() + at);
    bool const is_span = head.type == RecordType::scope_begin || head.type == RecordType::state;
    if (is_span && std::find(wanted.begin(), wanted.end(), head.site) != wanted.end()) {
      pieces.read(records.substr(at), sites);
      if (pieces.error != nullptr) return true;
      values.assign(pieces.metadata->parts().value_count + std::size_t{1}, Value());
      bool is_cut = false;
      char const* const error = pieces.for_each_value([&](std::size_t i, Value const& value, std::uint32_t whole_size) {
        values[i] = value;
        is_cut |= whole_size != 0;
      });
      if (error != nullptr || is_cut || f(context, FieldValues(*pieces.metadata, values.data()))) return true;
    }
    at += std::size_t{head.words} * 8;
    if (head.words < 2) return true;
  }
  return false;
}

bool RecordingState::narrow(bool (*is_wanted)(void* context, Piece const& piece), void* context) {
  widen();
  std::vector<std::uint64_t> buffer;
  auto const wants = [&](RecordedChunk const* chunk) { return is_wanted(context, Piece(*this, *chunk, buffer)); };
  auto const needs_all = [](RecordedChunk const& chunk) { return chunk.summary.needs_all(); };
  if (std::any_of(chunks.begin(), chunks.end(), needs_all)) return false;
  if (std::any_of(chunks_of_tracks.begin(), chunks_of_tracks.end(), lacks_records)) {
    for (auto const& of_track : chunks_of_tracks) {
      if (std::any_of(of_track.begin(), of_track.end(), wants)) return false;
    }
  }
  for (auto const& of_track : chunks_of_tracks) {
    bool needs_before = true;  // the last chunk says which spans the track is in
    for (auto at = of_track.rbegin(); at != of_track.rend(); ++at) {
      RecordedChunk& chunk = **at;
      chunk.is_left_out = !needs_before && chunk.can_be_left_out() && !wants(&chunk);
      needs_before = !chunk.is_left_out && !chunk.summary.stands_alone();
    }
    find_known_spans(of_track);
  }
  return std::any_of(chunks.begin(), chunks.end(), [](RecordedChunk const& chunk) { return chunk.is_left_out; });
}

void RecordingState::find_known_spans(std::vector<RecordedChunk*> const& of_track) noexcept {
  std::int64_t open = 0;              // since the track began
  std::optional<std::int64_t> known;  // counted likewise; empty before the first chunk that is read
  for (RecordedChunk* const chunk : of_track) {
    std::int64_t const lowest = open + chunk->summary.lowest();
    if (chunk->is_left_out && known && lowest < *known) {
      chunk->unknown_spans = open - *known;
      known = lowest;
    }
    open += chunk->summary.rise();
    if (!chunk->is_left_out) known = open;
  }
}

void RecordingState::narrow_to_marks() noexcept {
  widen();
  for (auto const& of_track : chunks_of_tracks) {
    for (RecordedChunk* const chunk : of_track) {
      chunk->is_left_out = chunk != of_track.back() && chunk->can_be_left_out();
    }
  }
}

void RecordingState::widen() noexcept {
  for (RecordedChunk& chunk : chunks) {
    chunk.is_left_out = false;
    chunk.unknown_spans.reset();
  }
}

}}}  // namespace tracing::v1::recording
