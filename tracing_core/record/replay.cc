#include "tracing_core/record/replay.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/record/reader_parts.h"
#include "tracing_core/record/steady_times.h"

namespace tracing::inline v1::internal {
namespace {

// Zero would mean now.
Instant not_now(Instant time) noexcept { return time ? time : Instant{1}; }

// Maps the spans of the recording to those of the subscriber, and knows which ones each track is in.
class Replay {
 public:
  Replay(Subscriber& to, LostEntries lost) : to_(to), hides_entries_(lost == LostEntries::restored) {}

  void feed(RecordEntry const& entry, Instant time, bool selected) {
    OnTrack& writer = tracks_[entry.writer];
    bool const is_restated = (entry.flags & kRestated) != 0;
    if (entry.ordinal > writer.next_ordinal) writer.still_in = 0;
    writer.next_ordinal = entry.ordinal + !is_restated;
    if (!is_restated) {
      leave_unconfirmed(entry.writer, writer);
      writer.still_in.reset();
      if (entry.track == entry.writer) writer.last = time;
    }
    Track const track{entry.track, entry.track_name};
    if (OnTrack& on = tracks_[entry.track]; on.name != entry.track_name) on.name = entry.track_name;
    Origin const origin{&track, time, !selected};
    Origin const restored{&track, time, true};
    switch (entry.type) {
      case RecordType::state: restore(entry, writer, restored); break;
      case RecordType::scope_begin:
        make_span(entry, origin);
        enter(entry.span, origin);
        break;
      case RecordType::scope_end:
        exit(entry.span, origin);
        close(entry.span, origin);
        break;
      case RecordType::event:
        if (selected) feed_event(entry, origin);
        break;
      case RecordType::new_span: make_span(entry, origin); break;
      case RecordType::enter: enter(entry.span, origin); break;
      case RecordType::exit: exit(entry.span, origin); break;
      case RecordType::close: close(entry.span, origin); break;
      case RecordType::values:
        if ((entry.flags & kRestated) == 0 || writer.restored == entry.span) feed_values(entry);
        break;
      case RecordType::follows_from:
        if (id_of(entry.span) && id_of(entry.cause) && selected)
          to_.follows_from(id_of(entry.span), id_of(entry.cause));
        break;
      default: break;
    }
  }

  void finish(Instant time) {
    for (auto& [number, track] : tracks_) {
      Track const on{number, track.name};
      while (!track.entered.empty()) exit(track.entered.back().span, {&on, time, true});
    }
    for (auto const& [key, span] : spans_) {
      if (span.id) to_.drop_reference(span.id, {nullptr, std::max(time, span.begin), true});
    }
  }

 private:
  struct SpanHere {
    SpanId id{};  // empty if the subscriber does not want it
    std::uint64_t parent = 0;
    Instant begin{};
  };
  struct Entered {
    std::uint64_t span;  // its key
    Instant time;
    bool is_hidden;  // marked as restored
  };
  struct OnTrack {
    std::string name;
    std::uint64_t next_ordinal = 0;
    Instant last{};  // of its last record
    std::vector<Entered> entered;
    // After a gap in its records: how many of `entered` it is known to be in still.
    std::optional<std::size_t> still_in{};

    // Whether the next of `entered` is this one.
    bool is_still_in(std::uint64_t span) const {
      return still_in && *still_in < entered.size() && entered[*still_in].span == span;
    }
    std::uint64_t restored = 0;  // the span whose further values are new as well
  };

  static std::vector<Entered>::reverse_iterator find_entered(std::vector<Entered>& entered, std::uint64_t span) {
    return find_innermost(entered, [span](Entered const& one) { return one.span == span; });
  }

  // A damaged recording, or a past span, may end before it begins.
  static Origin ended(Origin const& end, Instant begin) noexcept {
    return {end.track, std::max(end.time, begin), end.restored};
  }

  LayerMask wanted(Metadata const& metadata) {
    return metadata.level() <= to_.max_level_hint() ? to_.enabled(metadata) : LayerMask{0};
  }
  SpanId id_of(std::uint64_t key) const {
    auto const found = spans_.find(key);
    return found == spans_.end() ? SpanId{} : found->second.id;
  }
  // The nearest ancestor that the subscriber has.
  Parent below(std::uint64_t key) const {
    for (int depth = 0; key != 0 && depth < kMaxDepth; ++depth) {
      auto const found = spans_.find(key);
      if (found == spans_.end()) break;
      if (found->second.id) return Parent::below(found->second.id);
      key = found->second.parent;
    }
    return Parent::root();
  }
  Parent parent_of(RecordEntry const& entry, std::uint64_t parent) const {
    auto const kind = static_cast<Parent::Kind>(std::min(entry.flags & kParentMask, 2));
    return kind == Parent::Kind::span ? below(parent) : Parent{kind, {}};
  }

  void make_span(RecordEntry const& entry, Origin const& origin) {
    add_span(entry, parent_of(entry, entry.parent), origin);
  }
  void add_span(RecordEntry const& entry, Parent const& parent, Origin const& origin) {
    SpanHere& span = spans_[entry.span];
    span.parent = entry.parent;
    span.begin = origin.time;
    LayerMask const mask = wanted(*entry.metadata);
    if (mask != 0) span.id = to_.new_span({FieldValues(*entry.metadata, entry.values), parent, mask, origin});
  }

  // A chunk begins with the spans around it: those that are not known are made now.
  void restore(RecordEntry const& entry, OnTrack& writer, Origin const& restored) {
    writer.restored = 0;
    if (!spans_.contains(entry.span)) {
      writer.restored = entry.span;
      add_span(entry, below(entry.parent), restored);
    }
    if ((entry.flags & kEntered) == 0 || !id_of(entry.span)) return;
    if (writer.is_still_in(entry.span)) {
      ++*writer.still_in;
      return;
    }
    leave_unconfirmed(entry.writer, writer);
    bool const is_inside = find_entered(writer.entered, entry.span) != writer.entered.rend();
    bool const is_hidden = hides_entries_ || entry.is_context;
    if (!is_inside) enter(entry.span, {restored.track, restored.time, is_hidden});
    if (writer.still_in) writer.still_in = writer.entered.size();
  }

  // The track left these spans in the gap, at an unknown time: the last record before it is the latest known time.
  void leave_unconfirmed(std::uint64_t number, OnTrack& writer) {
    if (!writer.still_in) return;
    Track const track{number, writer.name};
    while (writer.entered.size() > *writer.still_in)
      exit(writer.entered.back().span, {&track, writer.last, hides_entries_});
  }

  void feed_event(RecordEntry const& entry, Origin const& origin) {
    LayerMask const mask = wanted(*entry.metadata);
    if (mask != 0)
      to_.event({FieldValues(*entry.metadata, entry.values), parent_of(entry, entry.span), mask, origin});
  }
  void feed_values(RecordEntry const& entry) {
    if (SpanId const id = id_of(entry.span)) to_.record(id, FieldValues(*entry.metadata, entry.values));
  }

  void enter(std::uint64_t key, Origin const& origin) {
    SpanId const id = id_of(key);
    if (!id) return;
    to_.enter(id, origin);
    tracks_[origin.track->number].entered.push_back({key, origin.time, origin.restored});
  }
  void exit(std::uint64_t key, Origin const& origin) {
    auto& entered = tracks_[origin.track->number].entered;
    auto const found = find_entered(entered, key);
    if (found == entered.rend()) return;
    Origin end = ended(origin, found->time);
    // Where entries are shown, there is no end of what did not begin.
    end.restored = end.restored || (found->is_hidden && !hides_entries_);
    entered.erase(std::next(found).base());
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
};

}  // namespace

void replay_selected(Recording& recording, Subscriber& to, bool (*select)(void* context, RecordEntry const& entry),
                     void* context, LostEntries lost, ReplayTimes times) {
  Replay replay(to, lost);
  bool const before = std::exchange(thread_state.in_subscriber, true);
  bool const is_steady = times == ReplayTimes::steady;
  SteadyTimes steady;
  Instant last;
  recording.for_each([&](RecordEntry const& entry) {
    bool const is_selected = select(context, entry);
    last = not_now(is_steady ? steady.of(entry) : entry.time);
    replay.feed(entry, last, is_selected && !entry.is_context && (entry.flags & kRestated) == 0);
  });
  Instant const end = recording.end();
  replay.finish(std::max(last, end && is_steady ? steady.of(end) : end));
  thread_state.in_subscriber = before;
}

}  // namespace tracing::inline v1::internal
