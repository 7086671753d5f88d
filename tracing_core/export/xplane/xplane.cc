#include "tracing_core/export/xplane/xplane.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/export/timeline/kernel_details.h"
#include "tracing_core/export/timeline/proto_writer.h"
#include "tracing_core/export/timeline/timeline.h"
#include "tracing_core/export/xplane/xplane_plane.h"
#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

using Of = XPlane::Of;

// Numbers of lines other than threads, above the numbers that the system gives to threads.
constexpr std::int64_t kFirstOtherLine = 1 << 30;
constexpr std::int64_t kFirstHeldLine = 1 << 29;
constexpr std::int64_t kCounterLine = 1 << 28;
constexpr std::int64_t kNoEnd = -1;

// Returns the name of the stat for a field. The viewer gives a meaning to stats with these names, and to all names that
// begin with `_`, so such a field gets a prefix.
std::string stat_name_of(std::string_view field) {
  constexpr std::array<std::string_view, 5> kTaken{"correlation_id", "flow", "group_id", "kernel_details", "step_name"};
  bool const is_taken = field.starts_with('_') || std::find(kTaken.begin(), kTaken.end(), field) != kTaken.end();
  return (is_taken ? "field." : "") + std::string(field);
}

// The viewer takes all events on lines of this name for counters.
constexpr std::string_view kCounters = "_counters_";
std::string line_name_of(std::string_view name) { return (name == kCounters ? " " : "") + std::string(name); }

// Returns the 1 and "7" of `GPU 1 stream 7`; nothing for a track of another name.
std::optional<std::pair<std::int64_t, std::string_view>> stream_of(std::string_view track) {
  constexpr std::string_view kGpu = "GPU ", kStream = " stream ";
  if (!track.starts_with(kGpu)) return std::nullopt;
  std::int64_t device = 0;
  auto const [end, error] = std::from_chars(track.data() + kGpu.size(), track.data() + track.size(), device);
  track.remove_prefix(static_cast<std::size_t>(end - track.data()));
  constexpr std::int64_t kMaxDevice = 499;  // the viewer takes a greater number for device 0
  if (error != std::errc() || device < 0 || device > kMaxDevice || !track.starts_with(kStream)) return std::nullopt;
  return std::pair(device, track.substr(kStream.size()));
}

// Numbers arrows. For each slice, the viewer draws at most one arrow to it and one from it. So all spans that follow
// one another, directly or not, share a number.
class Arrows {
 public:
  Arrows(SpanLinks const& links, std::uint64_t process) : links_(links), first_(process << 32 & 0xff'ffff'ffff'ffff) {}

  enum Direction : std::uint64_t { none = 0, in = 1, out = 2 };
  std::uint64_t directions(std::uint64_t key) const {
    return (links_.causes_of.contains(key) ? in : none) | (links_.causes.contains(key) ? out : none);
  }
  std::uint64_t number_of(std::uint64_t key) {
    constexpr int kMaxLength = 1000;  // spans may follow each other in a circle
    for (int i = 0; i < kMaxLength; ++i) {
      auto const cause = links_.causes_of.find(key);
      if (cause == links_.causes_of.end()) break;
      key = cause->second;
    }
    return first_ + numbers_.try_emplace(key, numbers_.size() + 1).first->second;
  }
  // Encodes an arrow as tsl's XFlow does.
  static std::uint64_t encoded(std::uint64_t directions, std::uint64_t number) noexcept {
    return directions | number << 2;
  }

 private:
  SpanLinks const& links_;
  std::uint64_t const first_;  // differs between processes
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
};

class XplaneTimeline final : public Timeline {
 public:
  XplaneTimeline(Instant start, Arrows arrows) : start_(start), arrows_(std::move(arrows)) {}

  Row add_thread(std::int64_t tid, std::string_view name) override {
    bool const is_usual = tid >= 0 && tid < kCounterLine;  // a damaged recording may have any number
    return add_row(host_, is_usual ? tid : kFirstOtherLine, name);
  }
  Row add_track(std::uint64_t number, std::string_view name) override;
  std::optional<Row> add_tests() override { return std::nullopt; }  // so that spans are in the step of their test
  Row add_counter(std::string_view name) override;

  void begin(Slice const& slice) override;
  void begin_test(Row row, Instant time, std::string_view name, std::uint32_t tag) override;
  void end(End const& end) override;
  void add_held(Slice const& slice, std::optional<Instant> end) override;
  void mark(Row row, Instant time, Event const& event, std::string_view name) override;
  void count(Row row, Instant time, Value const& number) override;

  // Ends all open slices and held spans. `last`: when the recording ends.
  void finish(Instant last);
  void write(XPlane::Out const& out) const;

 private:
  struct Callsite {
    std::uint32_t metadata = 0;         // of spans, which have the callsite's name; zero for events and kernels
    std::vector<std::uint32_t> fields;  // stats, in the order of the fields; zero: not shown
    std::size_t step_field = SIZE_MAX;
    TextBuffer common{};                                   // encoded stats that all events of the callsite have
    std::unordered_map<std::string, std::uint32_t> names;  // metadata of events and kernels, by their names
  };
  struct Plane {
    Plane(std::string name, std::int64_t id, bool is_host_plane) : to(std::move(name), id), is_host(is_host_plane) {}
    XPlane to;
    bool is_host;
    std::unordered_map<Metadata const*, Callsite> callsites{};
  };
  struct OpenSlice {
    std::size_t event;
    std::uint64_t directions, arrow;
    std::int64_t step;  // the number of a test; zero for a span
  };
  struct Line {
    Plane* plane;
    XPlane::Line* to;
    std::vector<OpenSlice> open{};
    std::uint32_t counter = 0;  // metadata
  };

  Row add_row(Plane& plane, std::int64_t id, std::string_view name) {
    lines_.push_back({&plane, &plane.to.add_line(id, line_name_of(name))});
    return lines_.size();
  }
  Line& line_of(Row row) { return lines_[row - 1]; }
  // Returns the time since the start, limited to the times that the format has.
  std::int64_t since_start(Instant time) const noexcept {
    if (time <= start_) return 0;
    auto const since = static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(start_.ns);
    return static_cast<std::int64_t>(std::min(since, static_cast<std::uint64_t>(XPlane::kMaxNs)));
  }
  static Callsite& callsite_of(Plane& plane, Metadata const& metadata);
  static std::uint32_t named(Plane& plane, Callsite& callsite, std::string_view name);
  static std::uint32_t metadata_of(Plane& plane, SpanRef span);
  void add_values(Plane& plane, TextBuffer& to, SpanRef span);
  void add_fields(Plane& plane, TextBuffer& to, FieldValues const& values);
  void add_kernel_details(Plane& plane, TextBuffer& to, SpanRef kernel);
  void add_arrow(Plane& plane, TextBuffer& to, std::uint64_t directions, std::uint64_t arrow);
  void add_step(Plane& plane, TextBuffer& to, std::int64_t number);
  template <class F>
  void add_stats(XPlane::Line& line, XPlane::Event& event, F&& add);
  void distribute(std::string const& name, XPlane::Line& held);

  static void append(Plane& plane, TextBuffer& to, std::string_view stat, Value const& value) {
    XPlane::append_stat(to, Of::event, plane.to.stat(stat), value);
  }

  Instant const start_;
  Arrows arrows_;
  Plane host_{"/host:CPU", 0, true};
  std::map<std::int64_t, Plane> devices_;
  std::deque<Line> lines_;
  XPlane::Line* counters_ = nullptr;
  std::map<std::string, XPlane::Line> held_;  // held spans by their names, in the order of their ends
  std::int64_t last_step_ = 0;
};

// ---- rows ----

Timeline::Row XplaneTimeline::add_track(std::uint64_t number, std::string_view name) {
  auto const stream = stream_of(name);
  if (!stream) {
    std::int64_t const place = number < kFirstOtherLine ? static_cast<std::int64_t>(number) : 0;
    return add_row(host_, kFirstOtherLine + place, name);
  }
  std::string const device = "/device:GPU:" + std::to_string(stream->first);
  Plane& plane = devices_.try_emplace(stream->first, device, stream->first, false).first->second;
  std::int64_t id = 0;
  auto const [end, error] = std::from_chars(stream->second.data(), stream->second.data() + stream->second.size(), id);
  bool const is_number = error == std::errc() && end == stream->second.data() + stream->second.size();
  bool const is_short = is_number && id >= 0 && id < kFirstOtherLine;
  return add_row(plane, is_short ? id : kFirstOtherLine, "Stream #" + std::string(stream->second));
}

Timeline::Row XplaneTimeline::add_counter(std::string_view name) {
  if (counters_ == nullptr) counters_ = &host_.to.add_line(kCounterLine, kCounters);
  lines_.push_back({&host_, counters_});
  lines_.back().counter = host_.to.add_metadata(name, {});
  return lines_.size();
}

// ---- callsites ----

XplaneTimeline::Callsite& XplaneTimeline::callsite_of(Plane& plane, Metadata const& metadata) {
  auto const [at, is_new] = plane.callsites.try_emplace(&metadata);
  Callsite& callsite = at->second;
  if (!is_new) return callsite;
  auto const add = [&](std::string_view stat, std::string_view text) {
    if (!text.empty()) XPlane::append_stat(callsite.common, Of::metadata, plane.to.stat(stat), Value::of_text(text));
  };
  add("target", metadata.target());
  add("level", tracing::name(metadata.level()));
  if (!metadata.file().empty()) add("source", std::string(metadata.file()) + ":" + std::to_string(metadata.line()));
  for (std::size_t i = 0; i < metadata.fields().size(); ++i) {
    std::string_view const field = metadata.fields()[i];
    if (metadata.is_span() && field == "step_num") callsite.step_field = i;
    callsite.fields.push_back(is_argument(metadata, i) ? plane.to.stat(stat_name_of(field)) : 0);
  }
  if (metadata.is_span() && !is_kernel(metadata))
    callsite.metadata = plane.to.add_metadata(metadata.name(), callsite.common.view());
  return callsite;
}

std::uint32_t XplaneTimeline::named(Plane& plane, Callsite& callsite, std::string_view name) {
  auto const [at, is_new] = callsite.names.try_emplace(std::string(name), 0);
  if (is_new) at->second = plane.to.add_metadata(name, callsite.common.view());
  return at->second;
}

std::uint32_t XplaneTimeline::metadata_of(Plane& plane, SpanRef span) {
  Callsite& callsite = callsite_of(plane, span.metadata());
  if (callsite.metadata != 0) return callsite.metadata;
  InlineTextBuffer<256> name;
  append_kernel_name(name, span);
  return named(plane, callsite, name.view());
}

// ---- stats ----

template <class F>
void XplaneTimeline::add_stats(XPlane::Line& line, XPlane::Event& event, F&& add) {
  event.stats_at = line.stats.size();
  add(line.stats);
  if (line.stats.truncated()) line.stats.resize_down(event.stats_at);  // memory ran out
  event.stats_size = static_cast<std::uint32_t>(line.stats.size() - event.stats_at);
}

void XplaneTimeline::add_fields(Plane& plane, TextBuffer& to, FieldValues const& values) {
  Callsite const& callsite = callsite_of(plane, values.metadata());
  for (std::size_t i = 0; i < callsite.fields.size(); ++i) {
    if (callsite.fields[i] == 0) continue;
    Value const value = values.value(i);
    if (i == callsite.step_field && (value.kind() == ValueKind::u64 || value.kind() == ValueKind::i64)) {
      add_step(plane, to, value.kind() == ValueKind::i64 ? value.as_i64() : static_cast<std::int64_t>(value.as_u64()));
    } else {
      XPlane::append_stat(to, Of::event, callsite.fields[i], value);
    }
  }
}

void XplaneTimeline::add_values(Plane& plane, TextBuffer& to, SpanRef span) {
  for_each_value_of(span, [&](FieldValues const& values) { add_fields(plane, to, values); });
}

// Makes an event a step in the viewer, with everything inside it and the kernels launched there.
void XplaneTimeline::add_step(Plane& plane, TextBuffer& to, std::int64_t number) {
  append(plane, to, "step_num", Value::of_i64(number));
  append(plane, to, "_r", Value::of_i64(1));
}

// Adds the stat by which the viewer recognises a kernel, which then gets a row on the page of kernels.
void XplaneTimeline::add_kernel_details(Plane& plane, TextBuffer& to, SpanRef kernel) {
  InlineTextBuffer<256> details;
  append_kernel_details(details, kernel);
  if (!details.empty()) append(plane, to, "kernel_details", Value::of_text(details.view()));
}

void XplaneTimeline::add_arrow(Plane& plane, TextBuffer& to, std::uint64_t directions, std::uint64_t arrow) {
  if (directions == Arrows::none) return;
  append(plane, to, "flow", Value::of_u64(Arrows::encoded(directions, arrow)));
  // The viewer finds the launch that a kernel belongs to by this number.
  bool const is_launch = plane.is_host && (directions & Arrows::out) != 0;
  if (is_launch || !plane.is_host) append(plane, to, "correlation_id", Value::of_i64(static_cast<std::int64_t>(arrow)));
}

// ---- slices ----

void XplaneTimeline::begin(Slice const& slice) {
  Line& line = line_of(slice.row);
  std::uint64_t directions = slice.has_links ? arrows_.directions(slice.key) : 0;
  if (slice.is_part) directions |= Arrows::in;
  line.open.push_back({line.to->events.size(), directions, directions != 0 ? arrows_.number_of(slice.key) : 0, 0});
  line.to->events.push_back({.begin_ns = since_start(slice.begin), .metadata = metadata_of(*line.plane, slice.span)});
}

void XplaneTimeline::begin_test(Row row, Instant time, std::string_view name, std::uint32_t) {
  Line& line = line_of(row);
  line.open.push_back({line.to->events.size(), 0, 0, ++last_step_});
  line.to->events.push_back({.begin_ns = since_start(time), .metadata = line.plane->to.add_metadata(name, {})});
}

void XplaneTimeline::end(End const& end) {
  Line& line = line_of(end.row);
  OpenSlice const slice = line.open.back();
  line.open.pop_back();
  XPlane::Event& event = line.to->events[slice.event];
  event.duration_ns = since_start(end.time) - event.begin_ns;
  add_stats(*line.to, event, [&](TextBuffer& to) {
    if (end.span) add_values(*line.plane, to, end.span);
    if (end.span && !line.plane->is_host && is_kernel(end.span.metadata()))
      add_kernel_details(*line.plane, to, end.span);
    if (slice.step != 0) add_step(*line.plane, to, slice.step);
    add_arrow(*line.plane, to, slice.directions, slice.arrow);
    if (!end.is_known) append(*line.plane, to, "did_not_end", Value::of_text("true"));
  });
}

void XplaneTimeline::mark(Row row, Instant time, Event const& event, std::string_view name) {
  Line& line = line_of(row);
  std::uint32_t const metadata = named(*line.plane, callsite_of(*line.plane, event.metadata()), name);
  XPlane::Event& mark = line.to->events.emplace_back();
  mark.begin_ns = since_start(time);
  mark.metadata = metadata;
  add_stats(*line.to, mark, [&](TextBuffer& to) { add_fields(*line.plane, to, event.fields); });
}

void XplaneTimeline::count(Row row, Instant time, Value const& number) {
  Line& line = line_of(row);
  XPlane::Event& count = line.to->events.emplace_back();
  count.begin_ns = since_start(time);
  count.metadata = line.counter;
  add_stats(*line.to, count, [&](TextBuffer& to) { append(host_, to, "value", number); });
}

// ---- held spans ----

void XplaneTimeline::add_held(Slice const& slice, std::optional<Instant> end) {
  XPlane::Line& held = held_[std::string(slice.span.metadata().name())];
  XPlane::Event& event = held.events.emplace_back();
  event.begin_ns = since_start(slice.begin);
  event.duration_ns = end ? since_start(*end) - event.begin_ns : kNoEnd;
  event.metadata = metadata_of(host_, slice.span);
  std::uint64_t const directions = Arrows::out | (slice.has_links ? arrows_.directions(slice.key) : 0);
  add_stats(held, event, [&](TextBuffer& to) {
    add_values(host_, to, slice.span);
    add_arrow(host_, to, directions, arrows_.number_of(slice.key));
    if (!end) append(host_, to, "did_not_end", Value::of_text("true"));
  });
}

// Puts spans that overlap on different lines with one name.
void XplaneTimeline::distribute(std::string const& name, XPlane::Line& held) {
  std::stable_sort(held.events.begin(), held.events.end(),
                   [](XPlane::Event const& a, XPlane::Event const& b) { return a.begin_ns < b.begin_ns; });
  using EndOfLine = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<EndOfLine, std::vector<EndOfLine>, std::greater<>> ends;
  std::vector<XPlane::Line*> lines;
  for (XPlane::Event event : held.events) {
    std::size_t line = lines.size();
    if (!ends.empty() && ends.top().first <= event.begin_ns) {
      line = ends.top().second;
      ends.pop();
    } else {
      lines.push_back(&host_.to.add_line(kFirstHeldLine, line_name_of(name)));
    }
    ends.emplace(event.begin_ns + event.duration_ns, line);
    std::string_view const stats = held.stats.view().substr(event.stats_at, event.stats_size);
    add_stats(*lines[line], event, [&](TextBuffer& to) { ProtoWriter(to).encoded(stats); });
    lines[line]->events.push_back(event);
  }
}

void XplaneTimeline::finish(Instant last) {
  std::int64_t const end = since_start(last);
  for (Row row = 1; row <= lines_.size(); ++row) {
    while (!line_of(row).open.empty()) this->end({.row = row, .time = last, .is_known = false});
  }
  while (!held_.empty()) {
    auto held = held_.extract(held_.begin());
    for (XPlane::Event& event : held.mapped().events) {
      if (event.duration_ns == kNoEnd) event.duration_ns = std::max(end - event.begin_ns, std::int64_t{0});
    }
    distribute(held.key(), held.mapped());
  }
}

void XplaneTimeline::write(XPlane::Out const& out) const {
  constexpr std::uint32_t kPlanes = 1;
  host_.to.write(kPlanes, out);
  for (auto const& [number, device] : devices_) device.to.write(kPlanes, out);
}

}  // namespace

void write_xplane(TraceSource source, XplaneOptions const& options, std::function<void(std::string_view)> out) {
  Instant const start = options.start ? options.start : source.recording.start();
  Instant last = std::max(start, source.recording.end());
  source.each = [&last, each = std::move(source.each)](Entry const& entry) {
    last = std::max(last, entry.time);
    if (each != nullptr) each(entry);
  };
  SpanLinks const links = SpanLinks::of(source.recording);
  XplaneTimeline timeline(start, Arrows(links, source.pid));
  draw_timeline(std::move(source), links, timeline);
  timeline.finish(last);
  timeline.write(out);

  XPlane environment("Task Environment", 0);
  environment.add_own_stat("profile_start_time", static_cast<std::uint64_t>(start.ns));
  environment.add_own_stat("profile_stop_time", static_cast<std::uint64_t>(last.ns));
  environment.write(1, out);
  TextBuffer host;
  ProtoWriter(host).text(4, options.hostname);
  out(host.view());
}

}}}  // namespace tracing::v1::recording
