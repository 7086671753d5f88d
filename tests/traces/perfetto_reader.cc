#include "tests/traces/perfetto_reader.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <set>

#include "tests/traces/unknown_fields.h"

namespace testlog_test {
namespace {

using testlog_perfetto::InternedData;
using testlog_perfetto::TracePacket;
using testlog_perfetto::TrackEvent;

// The names that packets of one sequence have defined.
struct Names {
  bool is_cleared = false;
  std::map<std::uint64_t, std::string> categories, events, annotations, places;

  void add(InternedData const& data) {
    for (auto const& one : data.event_categories()) categories[one.iid()] = one.name();
    for (auto const& one : data.event_names()) events[one.iid()] = one.name();
    for (auto const& one : data.debug_annotation_names()) annotations[one.iid()] = one.name();
    for (auto const& one : data.source_locations())
      places[one.iid()] = one.file_name() + ":" + std::to_string(one.line_number());
  }
};

std::string text_of(testlog_perfetto::DebugAnnotation const& value) {
  using Case = testlog_perfetto::DebugAnnotation::ValueCase;
  switch (value.value_case()) {
    case Case::kBoolValue: return value.bool_value() ? "true" : "false";
    case Case::kUintValue: return std::to_string(value.uint_value());
    case Case::kIntValue: return std::to_string(value.int_value());
    case Case::kDoubleValue: return std::to_string(value.double_value());
    case Case::kStringValue: return "\"" + value.string_value() + "\"";
    case Case::kPointerValue: return "pointer " + std::to_string(value.pointer_value());
    default: return "nothing";
  }
}

class Reader {
 public:
  void read(TracePacket const& packet) {
    ++trace_.packets;
    if (has_unknown_fields(packet)) problem("has a field that our schema does not name");
    if (packet.trusted_packet_sequence_id() == 0) problem("belongs to no sequence");
    Names& names = names_[packet.trusted_packet_sequence_id()];
    if ((packet.sequence_flags() & 1) != 0) {
      names = Names();
      names.is_cleared = true;
    }
    if (packet.has_interned_data()) names.add(packet.interned_data());
    if (packet.has_clock_snapshot()) check_clocks(packet);
    if (packet.has_track_descriptor()) describe(packet.track_descriptor());
    if (!packet.has_track_event()) return;
    if (!names.is_cleared) problem("refers to names of a sequence whose beginning is missing");
    if (!packet.has_timestamp()) problem("has no time");
    add(packet.track_event(), packet.timestamp(), names);
  }

  PerfettoTrace finish() {
    for (auto& [uuid, row] : trace_.rows)
      std::stable_sort(row.slices.begin(), row.slices.end(),
                       [](PerfettoSlice const& a, PerfettoSlice const& b) { return a.begin < b.begin; });
    return std::move(trace_);
  }

 private:
  void problem(std::string const& text) {
    trace_.problems.push_back("packet " + std::to_string(trace_.packets) + " " + text);
  }

  void check_clocks(TracePacket const& packet) {
    std::set<std::uint32_t> clocks;
    for (auto const& clock : packet.clock_snapshot().clocks()) clocks.insert(clock.clock_id());
    if (!clocks.contains(packet.clock_snapshot().primary_trace_clock())) problem("has no time of its main clock");
  }

  void describe(testlog_perfetto::TrackDescriptor const& track) {
    if (track.uuid() == 0) problem("describes a row without a number");
    if (trace_.rows.contains(track.uuid())) problem("describes a row again");
    if (track.has_parent_uuid() && !trace_.rows.contains(track.parent_uuid()))
      problem("is below a row that is not known");
    PerfettoRow& row = trace_.rows[track.uuid()];
    row.parent = track.parent_uuid();
    row.name = track.name();
    if (track.has_process()) {
      row.kind = "process", row.name = track.process().process_name(), row.number = track.process().pid();
    } else if (track.has_thread()) {
      row.kind = "thread", row.name = track.thread().thread_name(), row.number = track.thread().tid();
    } else if (track.has_counter()) {
      row.kind = "counter";
    }
  }

  std::string name_of(std::map<std::uint64_t, std::string> const& table, std::uint64_t number, char const* what) {
    auto const found = table.find(number);
    if (found != table.end()) return found->second;
    problem(std::string("refers to a ") + what + " that is not defined");
    return "?";
  }

  void add(TrackEvent const& event, std::uint64_t time, Names const& names) {
    auto const found = trace_.rows.find(event.track_uuid());
    if (found == trace_.rows.end()) return problem("belongs to a row that is not known");
    PerfettoRow& row = found->second;
    std::uint64_t& last = last_times_[event.track_uuid()];
    if (time < last) problem("is earlier than the packet before it in its row");
    last = std::max(last, time);
    std::vector<std::size_t>& open = open_[event.track_uuid()];
    switch (event.type()) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        open.push_back(row.slices.size());
        row.slices.push_back(slice_of(event, time, names, open.size() - 1));
        break;
      case TrackEvent::TYPE_INSTANT:
        row.slices.push_back(slice_of(event, time, names, open.size()));
        row.slices.back().end = time;
        row.slices.back().is_instant = true;
        break;
      case TrackEvent::TYPE_SLICE_END:
        if (open.empty()) return problem("ends a slice that did not begin");
        row.slices[open.back()].end = time;
        add_args(event, names, row.slices[open.back()]);
        open.pop_back();
        break;
      case TrackEvent::TYPE_COUNTER:
        if (row.kind != "counter") problem("counts in a row that is no counter");
        row.counts.emplace_back(time, event.has_counter_value() ? static_cast<double>(event.counter_value())
                                                                : event.double_counter_value());
        break;
      default: problem("has an event without a type");
    }
  }

  PerfettoSlice slice_of(TrackEvent const& event, std::uint64_t time, Names const& names, std::size_t depth) {
    PerfettoSlice slice;
    slice.begin = time;
    slice.depth = depth;
    if (event.has_name() == event.has_name_iid()) problem("has not one name");
    slice.name = event.has_name() ? event.name() : name_of(names.events, event.name_iid(), "name");
    for (std::uint64_t const number : event.category_iids())
      slice.categories.push_back(name_of(names.categories, number, "category"));
    if (event.has_source_location_iid()) slice.place = name_of(names.places, event.source_location_iid(), "place");
    slice.flows.assign(event.flow_ids().begin(), event.flow_ids().end());
    add_args(event, names, slice);
    return slice;
  }

  void add_args(TrackEvent const& event, Names const& names, PerfettoSlice& slice) {
    for (auto const& annotation : event.debug_annotations())
      slice.args[name_of(names.annotations, annotation.name_iid(), "field")] = text_of(annotation);
  }

  PerfettoTrace trace_;
  std::map<std::uint32_t, Names> names_;
  std::map<std::uint64_t, std::uint64_t> last_times_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
};

// Calls `each(begin, end, body)` for each whole packet.
template <class F>
void for_each_packet(std::string_view bytes, F&& each) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<std::uint8_t const*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetTotalBytesLimit(INT32_MAX);
  for (;;) {
    std::uint32_t const tag = in.ReadTag();
    std::uint32_t size = 0;
    if (tag != 0x0A || !in.ReadVarint32(&size)) return;
    auto const begin = static_cast<std::size_t>(in.CurrentPosition());
    if (!in.Skip(static_cast<int>(size))) return;
    each(bytes.substr(begin, size), begin + size);
  }
}

}  // namespace

PerfettoTrace PerfettoTrace::read(std::string_view bytes) {
  Reader reader;
  bool is_parsed = true;
  for_each_packet(bytes, [&](std::string_view body, std::size_t) {
    TracePacket packet;
    if (packet.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      reader.read(packet);
    } else {
      is_parsed = false;
    }
  });
  PerfettoTrace trace = reader.finish();
  if (!is_parsed) trace.problems.push_back("a packet is no valid message");
  return trace;
}

PerfettoTrace PerfettoTrace::read(testlog_perfetto::Trace const& trace) {
  Reader reader;
  for (TracePacket const& packet : trace.packet()) reader.read(packet);
  return reader.finish();
}

PerfettoRow const& PerfettoTrace::row(std::string_view name) const {
  static PerfettoRow const none;
  auto const found =
      std::find_if(rows.begin(), rows.end(), [name](auto const& one) { return one.second.name == name; });
  return found == rows.end() ? none : found->second;
}

std::vector<std::size_t> packet_ends(std::string_view bytes) {
  std::vector<std::size_t> ends;
  for_each_packet(bytes, [&ends](std::string_view, std::size_t end) { ends.push_back(end); });
  return ends;
}

}  // namespace testlog_test
