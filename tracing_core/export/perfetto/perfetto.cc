#include "tracing_core/export/perfetto/perfetto.h"

#include <utility>

#include "tracing_core/export/timeline/timeline.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

using Type = PerfettoPackets::Type;

constexpr std::int64_t kStartOrder = -2;
constexpr std::int64_t kTestsOrder = -1;  // above the threads, which have no order
constexpr std::int64_t kOtherOrder = 1;
// Keeps the numbers of arrows of held spans apart from the numbers of arrows of causes.
constexpr std::uint64_t kHeldFlow = std::uint64_t{1} << 63;

class PerfettoTimeline final : public Timeline {
 public:
  PerfettoTimeline(PerfettoPackets& packets, SpanLinks const& links, ProcessArrows arrows)
      : packets_(packets), links_(links), arrows_(std::move(arrows)) {}

  Row add_thread(std::int64_t tid, std::string_view name) override { return packets_.add_thread(tid, name); }
  Row add_track(std::uint64_t, std::string_view name) override { return packets_.add_row(name, kOtherOrder); }
  std::optional<Row> add_tests() override { return packets_.add_row("tests", kTestsOrder); }
  Row add_counter(std::string_view name) override { return packets_.add_counter(name); }

  void begin(Slice const& slice) override {
    add(slice, [&] {
      if (slice.has_links) add_links(slice.key);
      if (slice.is_part) packets_.flow(slice.key | kHeldFlow);
      if (!arrows_.from_spans.empty()) add_arrows(arrows_.from_spans, slice.key);
    });
  }
  void begin_test(Row row, Instant time, std::string_view name, std::uint32_t tag) override {
    packets_.add({Type::begin, row, time}, [&] {
      packets_.name(name);
      add_arrows(arrows_.from_tests, tag);
    });
  }
  void end(End const& end) override {
    if (!end.is_known) return;  // viewers show that it has no end
    packets_.add_end(end.row, end.time, [&] {
      if (!end.span) return;
      for_each_value_since(end.span, end.changes, [this](FieldValues const& values) { packets_.fields(values); });
    });
  }
  void add_held(Slice const& held, std::optional<Instant> end) override {
    Slice slice = held;
    slice.row = packets_.add_row(held.span.metadata().name(), kOtherOrder);
    add(slice, [&] {
      packets_.flow(slice.key | kHeldFlow);
      if (slice.has_links) add_links(slice.key);
    });
    if (end) packets_.add_end(slice.row, *end, [] {});
  }
  void mark(Row row, Instant time, Event const& event, std::string_view name) override {
    packets_.add({Type::instant, row, time}, event.metadata(), [&] {
      packets_.name(name);
      packets_.fields(event.fields);
    });
  }
  void count(Row row, Instant time, Value const& number) override { packets_.add_count(row, time, number); }

 private:
  template <class F>
  void add(Slice const& slice, F&& add_flows) {
    Metadata const& metadata = slice.span.metadata();
    packets_.add({Type::begin, slice.row, slice.begin}, metadata, [&] {
      if (is_kernel(metadata)) add_kernel_name(slice.span);
      for_each_value_of(slice.span, [this](FieldValues const& values) { packets_.fields(values); });
      add_flows();
    });
  }
  void add_kernel_name(SpanRef span) {
    InlineTextBuffer<256> name;
    append_kernel_name(name, span);
    packets_.shared_name(name.view());
  }
  void add_links(std::uint64_t key) {
    if (links_.causes.contains(key)) packets_.flow(key);
    auto const [from, to] = links_.causes_of.equal_range(key);
    for (auto at = from; at != to; ++at) packets_.flow(at->second);
  }

  // Draws the arrows from a slice. If the slice was ended and goes on in another slice, only from the first.
  template <class Key>
  void add_arrows(std::unordered_map<Key, ProcessArrows::Numbers>& from, Key key) {
    auto const found = from.find(key);
    if (found == from.end()) return;
    for (std::uint64_t const number : found->second) packets_.shared_flow(number);
    from.erase(found);
  }

  PerfettoPackets& packets_;
  SpanLinks const& links_;
  ProcessArrows arrows_;
};

}  // namespace

void write_perfetto(TraceSource source, PerfettoPackets::Out out, ProcessArrows arrows) {
  PerfettoPackets packets({static_cast<std::int64_t>(source.pid), source.process, source.recording.start()},
                          std::move(out));
  SpanLinks const links = SpanLinks::of(source.recording);
  if (!arrows.started_by.empty()) {
    PerfettoPackets::Event const start{Type::instant, packets.add_row("start", kStartOrder), source.recording.start()};
    packets.add(start, [&] {
      packets.name(arrows.started_by);
      if (arrows.to_process != 0) packets.shared_flow(arrows.to_process);
    });
  }
  PerfettoTimeline timeline(packets, links, std::move(arrows));
  draw_timeline(std::move(source), links, timeline);
  packets.flush();
}

}}}  // namespace tracing::v1::recording
