#include "tracing_core/export/timeline/timeline.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/record/replay.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

// Returns `memory.used` for the field `counter.memory.used`, and an empty name for other fields.
std::string_view counter_name(std::string_view field) noexcept {
  constexpr std::string_view kPrefix = "counter.";
  return field.starts_with(kPrefix) ? field.substr(kPrefix.size()) : std::string_view();
}

// Says which fields of an event are its message and counters.
struct EventFields {
  std::size_t message = 0;  // its index; the number of fields if the event has no message
  bool has_counters = false;
  bool has_only_counters = false;

  static EventFields of(Metadata const& metadata) {
    EventFields fields;
    std::size_t const count = metadata.fields().size();
    fields.message = count;
    fields.has_only_counters = count > 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (metadata.fields()[i] == "message") fields.message = i;
      bool const is_counter = !counter_name(metadata.fields()[i]).empty();
      fields.has_counters |= is_counter;
      fields.has_only_counters &= is_counter;
    }
    return fields;
  }
};

class TimelineLayer final : public Layer {
 public:
  // `now` is the entry that is being replayed. All arguments must outlive the layer.
  TimelineLayer(Timeline& to, Recording const& recording, SpanLinks const& links, Entry const& now)
      : to_(to), recording_(recording), links_(links), now_(now) {}

  void begin_test(std::string_view name);
  void end_test(Registry const& registry);

  Hooks hooks() const noexcept override {
    return Hooks::new_span | Hooks::event | Hooks::enter | Hooks::exit | Hooks::close;
  }
  void on_new_span(SpanRef span, NewSpan const& values, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;
  void on_event(Event const& event, Context const& context) noexcept override;

 private:
  struct OpenSlice {
    SpanId span{};  // zero: a test
    std::uint64_t key = 0;
    std::uint32_t changes = 0;
  };
  struct Row {
    Timeline::Row number = 0;
    Instant last{};
    std::vector<OpenSlice> open;
    std::string test{};  // the name of the open test, if any
    std::uint32_t test_tag = 0;

    // Returns `time`, or the latest time so far if that is later: viewers reject a slice that ends before it begins.
    Instant next(Instant time) noexcept { return last = std::max(last, time); }
  };
  // A span that was not entered when it was made.
  struct Held {
    Instant begin{};
    std::uint64_t key = 0;
    std::uint64_t track = 0;
    std::uint32_t entered = 0;
    bool is_elsewhere = false;  // the span was entered on another track

    bool is_plain() const noexcept { return entered == 1 && !is_elsewhere; }
  };

  Row& row_of(Track const& track);
  Row* known_row_of(Track const& track);  // null: nothing was drawn there
  Row& row_of_tests();
  Track track_of_test() const;
  bool has_ended(std::uint64_t key, Context const& context) const noexcept;
  void begin(Row& row, SpanRef span, std::uint64_t key, Instant time, bool is_first);
  template <class F>
  void end(Row& row, std::size_t index, Instant time, bool is_known, F&& find);
  void add_counters(Event const& event, Instant time);
  EventFields const& fields_of(Metadata const& metadata);
  bool has_links(std::uint64_t key) const {
    return !links_.causes.empty() && (links_.causes.contains(key) || links_.causes_of.contains(key));
  }

  Timeline& to_;
  Recording const& recording_;
  SpanLinks const& links_;
  Entry const& now_;
  std::unordered_map<std::uint64_t, Row> rows_;  // by track
  std::uint64_t last_track_ = 0;
  Row* last_row_ = nullptr;
  Row tests_;
  bool has_tests_ = false;
  bool tests_are_in_threads_ = false;
  std::map<std::string, Row, std::less<>> counters_;
  std::unordered_map<std::uint64_t, Held> held_;  // by id
  std::unordered_map<Metadata const*, EventFields> events_;
  Metadata const* last_event_ = nullptr;
  EventFields const* last_fields_ = nullptr;
};

// ---- rows ----

TimelineLayer::Row& TimelineLayer::row_of(Track const& track) {
  if (last_row_ != nullptr && last_track_ == track.number) return *last_row_;
  Row& row = rows_[track.number];
  last_track_ = track.number;
  last_row_ = &row;
  if (row.number != 0) return row;
  InlineTextBuffer<256> name;
  append_name_of_thread(name, track);
  auto const thread = thread_of(recording_, track.number);
  row.number = thread ? to_.add_thread(*thread, name.view()) : to_.add_track(track.number, name.view());
  return row;
}

TimelineLayer::Row* TimelineLayer::known_row_of(Track const& track) {
  if (last_row_ != nullptr && last_track_ == track.number) return last_row_;
  auto const found = rows_.find(track.number);
  return found != rows_.end() ? &found->second : nullptr;
}

// Returns the row in which a test begins or ends now.
TimelineLayer::Row& TimelineLayer::row_of_tests() {
  if (!std::exchange(has_tests_, true)) {
    std::optional<Timeline::Row> const row = to_.add_tests();
    tests_are_in_threads_ = !row;
    tests_.number = row.value_or(0);
  }
  return tests_are_in_threads_ ? row_of(track_of_test()) : tests_;
}

// Returns the track of the thread that runs the test. Test programs record their tests on a second track, which has the
// system's number of that thread, too.
Track TimelineLayer::track_of_test() const {
  auto const thread = thread_of(recording_, now_.track);
  for (Thread const& other : recording_.threads()) {
    if (other.number != now_.track && thread && other.os_thread == *thread) return {other.number, other.name};
  }
  return {now_.track, now_.track_name};
}

// ---- slices ----

// Returns true if a record ended the span, even a record that is not wanted; false if only the recording has ended.
bool TimelineLayer::has_ended(std::uint64_t key, Context const& context) const noexcept {
  bool const is_end = leaves_span(now_.type) || ends_span(now_.type);
  return !context.is_restored() || (is_end && now_.span == key);
}

// Begins a slice. `is_first`: false if the slice continues an earlier slice, which end() had to end together with a
// slice around it.
void TimelineLayer::begin(Row& row, SpanRef span, std::uint64_t key, Instant time, bool is_first) {
  Timeline::Slice slice{row.number, time, span, key};
  auto const held = held_.empty() ? held_.end() : held_.find(span.id().value);
  bool const is_held = held != held_.end();
  slice.is_part = is_held && !held->second.is_plain();
  slice.has_links = is_first && (!is_held || held->second.entered == 1) && has_links(key);
  to_.begin(slice);
  SpanLock const lock = span.lock();
  row.open.push_back({span.id(), key, span.values().changes()});
}

void TimelineLayer::on_enter(SpanRef span, Context const& context) noexcept {
  if (context.is_restored()) return;
  Track const& track = context.track();
  if (auto const held = held_.empty() ? held_.end() : held_.find(span.id().value); held != held_.end()) {
    ++held->second.entered;
    held->second.is_elsewhere |= held->second.track != track.number;
  }
  Row& row = row_of(track);
  begin(row, span, now_.span, row.next(context.time()), true);
}

// Ends an open slice. Spans may be left in any order, but slices must nest: slices inside of this one end, too, and are
// continued in new slices.
template <class F>
void TimelineLayer::end(Row& row, std::size_t index, Instant time, bool is_known, F&& find) {
  std::vector<OpenSlice> inside;  // innermost first
  for (;;) {
    OpenSlice const slice = row.open.back();
    row.open.pop_back();
    to_.end({row.number, time, slice.span ? find(slice.span) : SpanRef(), slice.changes, is_known});
    if (row.open.size() == index) break;
    inside.push_back(slice);
  }
  for (auto slice = inside.rbegin(); slice != inside.rend(); ++slice) {
    if (!slice->span) {
      to_.begin_test(row.number, time, row.test, row.test_tag);
      row.open.push_back(*slice);
    } else if (SpanRef const span = find(slice->span)) {
      begin(row, span, slice->key, time, false);
    }
  }
}

void TimelineLayer::on_exit(SpanRef span, Context const& context) noexcept {
  Row* const row = known_row_of(context.track());
  if (row == nullptr) return;
  auto const find = [&context](SpanId id) { return context.span(id); };
  for (std::size_t i = row->open.size(); i-- > 0;) {
    if (row->open[i].span != span.id()) continue;
    return end(*row, i, row->next(context.time()), has_ended(row->open[i].key, context), find);
  }
}

void TimelineLayer::begin_test(std::string_view name) {
  Row& row = row_of_tests();
  row.test = name;
  row.test_tag = now_.tag;
  row.open.emplace_back();
  to_.begin_test(row.number, row.next(now_.time), name, now_.tag);
}
void TimelineLayer::end_test(Registry const& registry) {
  if (!has_tests_) return;  // the beginning was overwritten
  Row& row = row_of_tests();
  for (std::size_t i = row.open.size(); i-- > 0;) {
    if (!row.open[i].span)
      return end(row, i, row.next(now_.time), true, [&registry](SpanId id) { return registry.span(id); });
  }
}

// ---- held spans ----

void TimelineLayer::on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept {
  if (context.is_restored() || enters_span(now_.type)) return;
  held_.insert_or_assign(span.id().value, Held{context.time(), now_.span, context.track().number});
}

void TimelineLayer::on_close(SpanRef span, Context const& context) noexcept {
  auto const found = held_.empty() ? held_.end() : held_.find(span.id().value);
  if (found == held_.end()) return;
  Held const held = found->second;
  held_.erase(found);
  if (held.is_plain()) return;
  std::optional<Instant> end;
  if (has_ended(held.key, context)) end = std::max(held.begin, context.time());
  to_.add_held({0, held.begin, span, held.key, held.entered == 0 && has_links(held.key)}, end);
}

// ---- events ----

EventFields const& TimelineLayer::fields_of(Metadata const& metadata) {
  if (last_event_ == &metadata) return *last_fields_;
  auto const [at, is_new] = events_.try_emplace(&metadata);
  if (is_new) at->second = EventFields::of(metadata);
  last_event_ = &metadata;
  last_fields_ = &at->second;
  return at->second;
}

void TimelineLayer::on_event(Event const& event, Context const& context) noexcept {
  if (context.is_restored()) return;
  Metadata const& metadata = event.metadata();
  EventFields const& fields = fields_of(metadata);
  Row& row = row_of(context.track());
  Instant const time = row.next(context.time());
  if (fields.has_counters) add_counters(event, time);
  if (fields.has_only_counters) return;
  InlineTextBuffer<256> name;
  if (fields.message != event.fields.size()) {
    append_message_text(name, event.fields.value(fields.message), {});
  } else if (metadata.name() != "event") {  // the name that the macros give to all events
    name.append(metadata.name());
  } else {
    if (!metadata.file().empty()) name.append(metadata.file());
    name.push_back(':');
    name.append_uint(metadata.line());
  }
  to_.mark(row.number, time, event, name.view());
}

void TimelineLayer::add_counters(Event const& event, Instant time) {
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    std::string_view const name = counter_name(event.fields.name(i));
    Value const value = event.fields.value(i);
    bool const is_number = value.kind() == ValueKind::i64 || value.kind() == ValueKind::u64 ||
                           value.kind() == ValueKind::f64 || value.kind() == ValueKind::f32;
    if (name.empty() || !is_number) continue;
    auto found = counters_.find(name);
    if (found == counters_.end()) {
      found = counters_.emplace(name, Row()).first;
      found->second.number = to_.add_counter(name);
    }
    to_.count(found->second.number, found->second.next(time), value);
  }
}

}  // namespace

bool is_argument(Metadata const& metadata, std::size_t field) noexcept {
  std::string_view const name = metadata.fields()[field];
  return name != "message" && (metadata.is_span() || counter_name(name).empty());
}

void draw_timeline(TraceSource source, SpanLinks const& links, Timeline& timeline) {
  Recording& recording = source.recording;
  Entry now;
  auto made = std::make_unique<TimelineLayer>(timeline, recording, links, now);
  TimelineLayer& layer = *made;
  auto const registry = RegistryBuilder().with(std::move(made), std::move(source.filter)).build();
  auto const each = [&](Entry const& entry) {
    now = entry;
    if (source.each != nullptr) source.each(entry);
    auto const section = source.section_of != nullptr ? source.section_of(entry) : std::nullopt;
    if (section) section->begins ? layer.begin_test(section->name) : layer.end_test(*registry);
    return source.is_wanted == nullptr || source.is_wanted(entry);
  };
  replay(recording, *registry, each, LostEntries::shown);
}

}}}  // namespace tracing::v1::recording
