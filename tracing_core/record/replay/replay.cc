#include "tracing_core/record/replay.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/filter/thread_levels.h"
#include "tracing_core/record/decode/span_tracker.h"
#include "tracing_core/record/replay/steady_times.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

// Zero would mean now.
Instant not_now(Instant time) noexcept { return time ? time : Instant{1}; }

// Maps spans of the recording to spans of the subscriber, and knows which spans each track is in.
class Replay {
 public:
  Replay(Subscriber& to, LostEntries lost) : to_(to), hides_entries_(lost == LostEntries::restored) {}
  Replay(Replay const&) = delete;
  Replay& operator=(Replay const&) = delete;
  ~Replay() {
    if (acting_ != nullptr) acting_->levels.swap();
  }

  void feed(Entry const& entry, Instant time, bool selected) {
    OnTrack& writer = on_track(entry.writer);
    bool const is_restated = entry.is_restated();
    if (entry.ordinal > writer.next_ordinal && !entry.is_after_left_out) writer.still_in = 0;
    writer.next_ordinal = entry.ordinal + !is_restated;
    if (!is_restated) {
      leave_unconfirmed(entry.writer, writer);
      writer.still_in.reset();
      if (entry.track == entry.writer) writer.last = time;
    }
    Track const track{entry.track, entry.track_name};
    OnTrack& on = on_track(entry.track);
    if (on.name != entry.track_name) on.name = entry.track_name;
    act_as(on);
    Origin const origin{&track, time, !selected};
    Origin const restored{&track, time, true};
    if (begins_span(entry.type)) make_span(entry, origin);
    if (enters_span(entry.type)) enter(entry.span, origin);
    if (leaves_span(entry.type)) exit(entry.span, origin);
    if (ends_span(entry.type)) close(entry.span, origin);
    switch (entry.type) {
      case EntryType::state: restore(entry, writer, restored); break;
      case EntryType::event:
        if (selected) feed_event(entry, origin);
        break;
      case EntryType::values:
        if (!is_restated || writer.restored == entry.span) feed_values(entry);
        break;
      case EntryType::follows_from:
        if (id_of(entry.span) && id_of(entry.cause) && selected)
          to_.follows_from(id_of(entry.span), id_of(entry.cause));
        break;
      default: break;
    }
  }

  void finish(Instant time) {
    for (auto& [number, track] : tracks_) {
      Track const on{number, track.name};
      while (track.entered.depth() > 0) exit(track.entered.innermost(), {&on, time, true});
    }
    for (auto const& [key, span] : spans_) {
      if (span.id) to_.drop_reference(span.id, {nullptr, std::max(time, span.begin), true});
    }
  }

 private:
  // What the subscriber said about a callsite.
  struct Answer {
    Metadata const* metadata = nullptr;
    Registration answer{};
  };
  static constexpr std::size_t kAnswers = 256;
  struct SpanHere {
    SpanId id{};  // empty if the subscriber does not want it
    std::uint64_t parent = 0;
    Instant begin{};
  };
  struct Entered {
    std::uint64_t span;  // its key
    Instant time;
    bool is_hidden;  // marked as restored

    friend std::uint64_t key_of(Entered const& entered) noexcept { return entered.span; }
  };
  struct OnTrack {
    std::string name;
    std::uint64_t next_ordinal = 0;
    Instant last{};  // of its last record
    SpanTracker<Entered> entered;
    // After a gap in its records: how many of the `entered` spans the track is known to be in still.
    std::optional<std::size_t> still_in{};
    internal::LevelsOfTrack levels;  // while another track acts

    // True if the next span of `entered` is this span.
    bool is_still_in(std::uint64_t span) const {
      return still_in && *still_in < entered.size() && entered.begin()[*still_in].span == span;
    }
    std::uint64_t restored = 0;  // the span whose further values are new as well
  };

  // Filters know the spans of a thread by the thread that calls them. From here on this thread calls for the track.
  void act_as(OnTrack& track) noexcept {
    if (acting_ == &track) return;
    if (acting_ != nullptr) acting_->levels.swap();
    acting_ = &track;
    track.levels.swap();
  }

  // A damaged recording, or a past span, may end before it begins.
  static Origin ended(Origin const& end, Instant begin) noexcept {
    return {end.track, std::max(end.time, begin), end.restored};
  }

  OnTrack& on_track(std::uint64_t number) {
    if (number != last_number_ || last_ == nullptr) last_ = &tracks_[last_number_ = number];
    return *last_;
  }

  // The subscriber's filters stay as they are during the replay.
  LayerMask wanted(Metadata const& metadata) {
    Answer& known = answers_[(reinterpret_cast<std::uintptr_t>(&metadata) >> 4) % kAnswers];
    if (known.metadata != &metadata) {
      known = {&metadata, {}};
      if (metadata.level() <= to_.max_level_hint()) known.answer = to_.register_callsite(metadata);
    }
    Registration const& answer = known.answer;
    if (answer.interest != Interest::sometimes) return answer.interest == Interest::always ? answer.wanted : 0;
    return to_.enabled_now(metadata, answer.wanted, answer.undecided);
  }
  SpanId id_of(std::uint64_t key) const {
    auto const found = spans_.find(key);
    return found == spans_.end() ? SpanId{} : found->second.id;
  }
  // Returns the nearest ancestor that the subscriber has.
  Parent below(std::uint64_t key) const {
    for (int depth = 0; key != 0 && depth < kMaxDepth; ++depth) {
      auto const found = spans_.find(key);
      if (found == spans_.end()) break;
      if (found->second.id) return Parent::below(found->second.id);
      key = found->second.parent;
    }
    return Parent::root();
  }
  Parent parent_of(Entry const& entry, std::uint64_t parent) const {
    auto const kind = static_cast<Parent::Kind>(std::min(entry.flags & internal::kParentMask, 2));
    return kind == Parent::Kind::span ? below(parent) : Parent{kind, {}};
  }

  void make_span(Entry const& entry, Origin const& origin) { add_span(entry, parent_of(entry, entry.parent), origin); }
  void add_span(Entry const& entry, Parent const& parent, Origin const& origin) {
    SpanHere& span = spans_[entry.span];
    span.parent = entry.parent;
    span.begin = origin.time;
    LayerMask const mask = wanted(*entry.metadata);
    if (mask != 0) span.id = to_.new_span({FieldValues(*entry.metadata, entry.values), parent, mask, origin});
  }

  // A chunk begins with the spans around it: makes the spans that are not known yet.
  void restore(Entry const& entry, OnTrack& writer, Origin const& restored) {
    writer.restored = 0;
    if (!spans_.contains(entry.span)) {
      writer.restored = entry.span;
      add_span(entry, below(entry.parent), restored);
    }
    if ((entry.flags & internal::kEntered) == 0 || !id_of(entry.span)) return;
    if (writer.is_still_in(entry.span)) {
      ++*writer.still_in;
      return;
    }
    leave_unconfirmed(entry.writer, writer);
    bool const is_hidden = hides_entries_ || entry.is_context;
    if (!writer.entered.is_in(entry.span)) enter(entry.span, {restored.track, restored.time, is_hidden});
    if (writer.still_in) writer.still_in = writer.entered.size();
  }

  // The track left these spans in the gap, at an unknown time. They end with the last record before the gap.
  void leave_unconfirmed(std::uint64_t number, OnTrack& writer) {
    if (!writer.still_in) return;
    Track const track{number, writer.name};
    while (writer.entered.size() > *writer.still_in)
      exit(writer.entered.innermost(), {&track, writer.last, hides_entries_});
  }

  void feed_event(Entry const& entry, Origin const& origin) {
    LayerMask const mask = wanted(*entry.metadata);
    if (mask != 0) to_.event({FieldValues(*entry.metadata, entry.values), parent_of(entry, entry.span), mask, origin});
  }
  void feed_values(Entry const& entry) {
    if (SpanId const id = id_of(entry.span)) to_.record(id, FieldValues(*entry.metadata, entry.values));
  }

  void enter(std::uint64_t key, Origin const& origin) {
    SpanId const id = id_of(key);
    if (!id) return;
    OnTrack& track = on_track(origin.track->number);
    act_as(track);
    to_.enter(id, origin);
    track.entered.enter({key, origin.time, origin.restored});
  }
  void exit(std::uint64_t key, Origin const& origin) {
    OnTrack& track = on_track(origin.track->number);
    auto const entered = track.entered.leave(key);
    if (!entered) return;
    act_as(track);
    Origin end = ended(origin, entered->time);
    // Hides the end of a span whose beginning was hidden.
    end.restored = end.restored || (entered->is_hidden && !hides_entries_);
    to_.exit(id_of(key), end);
  }
  void close(std::uint64_t key, Origin const& origin) {
    auto const found = spans_.find(key);
    if (found == spans_.end()) return;
    if (found->second.id) to_.drop_reference(found->second.id, ended(origin, found->second.begin));
    spans_.erase(found);
  }

  static constexpr int kMaxDepth = 10'000;  // a damaged recording may have a span that is below itself

  Subscriber& to_;
  bool const hides_entries_;
  std::unordered_map<std::uint64_t, SpanHere> spans_;  // by key
  std::unordered_map<std::uint64_t, OnTrack> tracks_;  // by number
  std::uint64_t last_number_ = 0;                      // of on_track()
  OnTrack* last_ = nullptr;
  std::vector<Answer> answers_ = std::vector<Answer>(kAnswers);
  OnTrack* acting_ = nullptr;
};

}  // namespace

void replay_selected(Recording& recording, Subscriber& to, bool (*select)(void* context, Entry const& entry),
                     void* context, LostEntries lost, ReplayTimes times) {
  Replay replay(to, lost);
  bool const before = std::exchange(internal::thread_state.in_subscriber, true);
  bool const is_steady = times == ReplayTimes::steady;
  SteadyTimes steady;
  Instant last;
  recording.for_each([&](Entry const& entry) {
    bool const is_selected = select(context, entry);
    last = not_now(is_steady ? steady.of(entry) : entry.time);
    replay.feed(entry, last, is_selected && !entry.is_context && !entry.is_restated());
  });
  Instant const end = recording.end();
  replay.finish(std::max(last, end && is_steady ? steady.of(end) : end));
  internal::thread_state.in_subscriber = before;
}

}}}  // namespace tracing::v1::recording
