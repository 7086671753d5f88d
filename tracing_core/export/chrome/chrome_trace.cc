#include "tracing_core/export/chrome/chrome_trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome/chrome_output.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/record/replay.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

namespace {

// Writes sections as slices of the thread that recorded their beginnings and ends.
class ChromeSections {
 public:
  explicit ChromeSections(ChromeGuard const& guard) : guard_(guard) {}

  void add(RecordedSection const& section, Entry const& at) {
    Track const track{at.track, {}};  // a second track with the thread's number, whose records do not name the thread
    if (section.begins) open_.emplace_back(section.name);
    if (open_.empty()) return;  // the section's beginning was overwritten
    add_test_slice(guard_, section.begins ? 'B' : 'E', open_.back(), track, at.time);
    if (!section.begins) open_.pop_back();
  }

 private:
  ChromeGuard const& guard_;
  std::vector<std::string> open_;  // names of open sections
};

}  // namespace

Instant first_time_of(Recording& recording) {
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  Instant const start = recording.start();
  Instant first = start;
  recording.for_each([&](Entry const& entry) {
    bool const is_new = !entry.is_context && !entry.is_restated();
    std::uint64_t const before = static_cast<std::uint64_t>(start.ns) - static_cast<std::uint64_t>(entry.time.ns);
    if (is_new && entry.time < first && before < kDay) first = entry.time;
  });
  return first;
}

void write_chrome(TraceSource source, ChromeTraceOptions const& options, std::function<void(std::string_view)> out) {
  Recording& recording = source.recording;
  ChromeProcess process = ChromeProcess::current();
  process.pid = static_cast<std::int64_t>(source.pid);
  process.name = source.process;
  process.start = options.start ? options.start : first_time_of(recording);
  process.opens_list = options.opens_list;
  process.closes_list = options.closes_list;
  process.tid_of = [&recording](Track const& track) {
    return thread_of(recording, track.number).value_or(static_cast<std::int64_t>(kFirstOtherTrack + track.number));
  };
  auto [layer, guard] =
      chrome_layer_of(std::move(process), {.sink = make_sink([&out](Level, std::string_view text) { out(text); })});
  auto const registry = RegistryBuilder().with(std::move(layer), std::move(source.filter)).build();
  ChromeSections sections(guard);
  auto const each = [&](Entry const& entry) {
    if (source.each != nullptr) source.each(entry);
    auto const section = source.section_of != nullptr ? source.section_of(entry) : std::nullopt;
    if (section) sections.add(*section, entry);
    return source.is_wanted == nullptr || source.is_wanted(entry);
  };
  replay(recording, *registry, each, LostEntries::shown);
}

}}}  // namespace tracing::v1::recording
