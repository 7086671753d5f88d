// PerfettoPackets: makes the packets of one process in a trace for ui.perfetto.dev.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/timeline/proto_writer.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace recording {

struct PerfettoProcess {
  std::int64_t pid = 0;
  std::string name{};
  Instant start{};
};

// Makes packets. A packet needs earlier packets only for names: the first packet with a name defines it for later
// packets. So a trace can be cut after any packet, and traces of several processes can be joined by appending them to
// each other. Times are in the wall clock. Single-thread. Source:
// https://perfetto.dev/docs/reference/synthetic-track-event, and the numbers of perfetto/protos/trace.
class PerfettoPackets {
 public:
  // Receives whole packets.
  using Out = std::function<void(std::string_view packets)>;
  // Packets begin with a clock snapshot and the description of the process.
  PerfettoPackets(PerfettoProcess process, Out out);

  // ---- rows; each returns its number, which is never zero ----

  std::uint64_t add_thread(std::int64_t tid, std::string_view name);
  // Adds a row. Rows with a smaller `order` are above the others.
  std::uint64_t add_row(std::string_view name, std::int64_t order);
  std::uint64_t add_counter(std::string_view name);

  // ---- events ----

  enum class Type : std::uint8_t { begin = 1, end = 2, instant = 3 };
  struct Event {
    Type type;
    std::uint64_t row;
    Instant time;
  };
  // Adds an event of a callsite, with its name, target, level and place. `add_more()` appends the rest: name(),
  // fields(), flow(). The callsite does not name instants and runs of kernels, so `add_more()` must name them.
  template <class F>
  void add(Event const& event, Metadata const& metadata, F&& add_more) {
    add_packet(event, [&] {
      buffer_.append(callsite_of(metadata).fixed);
      add_more();
    });
  }
  // Adds an event without a callsite. `add_more()` must name it.
  template <class F>
  void add(Event const& event, F&& add_more) {
    add_packet(event, add_more);
  }
  template <class F>
  void add_end(std::uint64_t row, Instant time, F&& add_more) {
    add_packet({Type::end, row, time}, add_more);
  }
  void add_count(std::uint64_t row, Instant time, Value const& number);

  // The following may be called in `add_more` only. name() appends a name that only this event has.
  void name(std::string_view text) noexcept { proto_.text(kName, text); }
  // Appends a name that other events may have, too.
  void shared_name(std::string_view text) { proto_.number(kNameNumber, interned(Table::names, text)); }
  // Appends all values but empty values, the message and counters.
  void fields(FieldValues const& fields);
  void category(std::string_view text) { proto_.number(kCategory, interned(Table::categories, text)); }
  void field(std::string_view name, Value const& value) { annotate(interned(Table::fields, name), value); }
  // Draws arrows through all events of the process with this number: from each event to the next.
  void flow(std::uint64_t number) noexcept { proto_.fixed(kFlow, number ^ seed_); }
  // Draws arrows through all events of the file with this number, also of other processes.
  void shared_flow(std::uint64_t number) noexcept { proto_.fixed(kFlow, number); }

  // ---- callsites ----

  struct Callsite {
    std::string fixed;                  // encoded fields of each of its events
    std::vector<std::uint64_t> fields;  // interned names, in the order of the fields; zero: no annotation
  };
  Callsite const& callsite_of(Metadata const& metadata);

  void flush();
  // Returns how many packets are missing because memory ran out.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  enum TrackEventField : std::uint32_t { kCategory = 3, kNameNumber = 10, kName = 23, kFlow = 47 };
  enum class Table : std::uint8_t { categories = 1, names = 2, fields = 3, places = 4 };

  template <class F>
  void add_packet(F&& fill);
  template <class F>
  void add_packet(Event const& event, F&& fill);
  void begin_event(Event const& event) noexcept;
  template <class F>
  std::uint64_t describe_row(F&& fill);
  std::uint64_t interned(Table table, std::string_view text);
  std::uint64_t interned_place(Metadata const& metadata);
  void finish_packet(std::size_t begin);
  void annotate(std::uint64_t name, Value const& value) noexcept;

  Out const out_;
  std::int64_t const pid_;
  std::uint64_t const seed_;  // differs between processes
  std::uint64_t const sequence_;
  std::uint64_t process_row_ = 0;
  std::uint64_t last_row_ = 0;
  std::uint64_t last_interned_ = 0;
  std::uint64_t dropped_ = 0;
  TextBuffer buffer_;
  ProtoWriter proto_{buffer_};
  TextBuffer new_names_;  // names that the packet in work defines
  std::unordered_map<std::string, std::uint64_t> names_;
  std::unordered_map<Metadata const*, Callsite> callsites_;
  Metadata const* last_metadata_ = nullptr;
  Callsite const* last_callsite_ = nullptr;
};

template <class F>
void PerfettoPackets::add_packet(F&& fill) {
  constexpr std::uint32_t kPacket = 1, kInterned = 12;
  std::size_t const begin = buffer_.size();
  proto_.message(kPacket, [&] {
    fill();
    if (!new_names_.empty()) proto_.bytes(kInterned, new_names_.view());
  });
  finish_packet(begin);
}

template <class F>
void PerfettoPackets::add_packet(Event const& event, F&& fill) {
  constexpr std::uint32_t kTrackEvent = 11;
  add_packet([&] {
    begin_event(event);
    proto_.message(kTrackEvent, [&] {
      proto_.number(9, static_cast<std::uint64_t>(event.type));
      proto_.number(11, event.row);
      fill();
    });
  });
}

}}}  // namespace tracing::v1::recording
