#include "tracing_core/export/chrome_trace.h"

#include <cstdint>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome_output.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/record/replay.h"

namespace tracing::inline v1::internal {

void write_chrome(TraceSource source, ChromeTraceOptions const& options, std::function<void(std::string_view)> out) {
  Recording& recording = source.recording;
  ChromeProcess process = ChromeProcess::current();
  process.pid = static_cast<std::int64_t>(recording.process());
  process.name = source.process;
  process.start = options.start ? options.start : recording.start();
  process.opens_list = options.opens_list;
  process.closes_list = options.closes_list;
  process.tid_of = [&recording](Track const& track) {
    return thread_of(recording, track.number).value_or(static_cast<std::int64_t>(kFirstOtherTrack + track.number));
  };
  auto [layer, guard] = chrome_layer_of(
      std::move(process), {.sink = make_sink([&out](Level, std::string_view text) { out(text); })});
  auto const registry = RegistryBuilder().with(std::move(layer), std::move(source.filter)).build();
  auto const each = [&source](RecordEntry const& entry) {
    if (source.each != nullptr) source.each(entry);
    return source.is_wanted == nullptr || source.is_wanted(entry);
  };
  replay(recording, *registry, each, LostEntries::shown);
}

}  // namespace tracing::inline v1::internal
