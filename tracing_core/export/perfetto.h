// write_perfetto(): makes a trace for ui.perfetto.dev of a recording, in Perfetto's own format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/perfetto_packets.h"
#include "tracing_core/export/trace_source.h"

namespace tracing::inline v1::internal {

// Writes one process. Traces of several are joined by appending one to the other. `out` receives whole packets.
void write_perfetto(TraceSource source, PerfettoPackets::Out out);

// Each thread has a row, with a slice while it is in a span and a mark for each event; so has each other track, such as a GPU
// stream. A span that is made here and entered there, or several times, or never, has a slice in a row of its own besides, and
// arrows to where threads are in it. Fields `counter.<name>` of events are the values of counters. Single-thread, for a replay.
class PerfettoLayer final : public Layer {
 public:
  // `now` is what is replayed. All must live longer.
  PerfettoLayer(PerfettoPackets& packets, Recording const& recording, SpanLinks const& links, RecordEntry const& now)
      : packets_(packets), recording_(recording), links_(links), now_(now) {}

  // Slices that are no spans, such as tests, in the row of this name.
  void begin_slice(std::string_view row, std::string_view name, Instant time);
  void end_slice(std::string_view row, Instant time);

  Hooks hooks() const noexcept override {
    return Hooks::new_span | Hooks::event | Hooks::enter | Hooks::exit | Hooks::close;
  }
  void on_new_span(SpanRef span, NewSpan const& values, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;
  void on_event(tracing::Event const& event, Context const& context) noexcept override;

 private:
  struct OpenSlice {
    SpanId span;
    std::uint32_t groups;  // of values that its beginning has
  };
  struct Row {
    std::uint64_t number = 0;
    Instant last{};
    std::vector<OpenSlice> open;
  };
  // A span that was made without being entered.
  struct Held {
    Instant begin;
    std::uint64_t key;
    std::uint64_t track;
    std::uint32_t entered = 0;
    bool is_elsewhere = false;  // it was entered on another track

    bool is_plain() const noexcept { return entered == 1 && !is_elsewhere; }
  };

  Row& row_of(Track const& track);
  Row& named_row(std::string_view name);
  static Instant next_time(Row& row, Instant time) noexcept;
  // With the links of the span with this key; zero: none.
  void begin(Row& row, SpanRef span, Instant time, std::uint64_t linked);
  void end(Row& row, SpanRef span, Instant time, std::uint32_t groups);
  void add_name(SpanRef span);
  void add_values(SpanRef span, std::uint32_t first_group);
  void add_links(std::uint64_t key);
  void add_held(SpanRef span, Held const& held, Instant const* end);
  void add_counters(tracing::Event const& event, Instant time);

  PerfettoPackets& packets_;
  Recording const& recording_;
  SpanLinks const& links_;
  RecordEntry const& now_;
  std::unordered_map<std::uint64_t, Row> rows_;  // by track
  std::map<std::string, Row, std::less<>> named_rows_;
  std::map<std::string, std::uint64_t, std::less<>> counters_;
  std::unordered_map<std::uint64_t, Held> held_;  // by id
};

}  // namespace tracing::inline v1::internal
