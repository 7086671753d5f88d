// Reads any bytes as a recording, prints every value and message in it, replays it to layers that print and export, and
// converts it as `testlog export` and `testlog stats` do.
//
// An input is a recording without its unused bytes (see packed_recording.h), so that most changes of a byte change
// something that is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome/chrome_output.h"
#include "tracing_core/export/chrome/chrome_trace.h"
#include "tracing_core/export/flame/flame_lines.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/print.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/export/xplane/xplane.h"
#include "tracing_core/fuzz/packed_recording.h"
#include "tracing_core/inspect/statistics.h"
#include "tracing_core/inspect/statistics_reader.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/piece.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/replay.h"

namespace {

using tracing::FormatKind;
using tracing::StatisticsBy;
using tracing::recording::Entry;
using tracing::recording::Piece;
using tracing::recording::Recording;
using tracing::recording::TraceSource;

void require(bool holds) {
  if (!holds) std::abort();
}

// Returns the sum of all bytes, so that a sanitizer sees each byte read.
std::size_t sum_of(std::string_view text) {
  std::size_t sum = text.size();
  for (char const c : text) sum += static_cast<unsigned char>(c);
  return sum;
}

std::size_t print(Entry const& entry) {
  if (entry.metadata == nullptr) return 0;
  tracing::Metadata const& metadata = *entry.metadata;
  std::size_t sum = sum_of(metadata.name()) + sum_of(metadata.target()) + sum_of(metadata.function()) +
                    sum_of(metadata.module_path()) + sum_of(metadata.file()) + sum_of(name(metadata.level()));
  tracing::FieldValues const values(metadata, entry.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tracing::InlineTextBuffer<256> out;
    append_debug(out, values.value(i));
    if (values.value(i).kind() == tracing::ValueKind::message) append_message(out, values.value(i));
    sum += sum_of(values.name(i)) + sum_of(out.view());
  }
  return sum;
}

void export_all(Recording& recording, std::shared_ptr<tracing::LineSink> const& sink) {
  auto process = tracing::internal::ChromeProcess::current();
  process.start = recording.start();
  auto [chrome, guard] = chrome_layer_of(std::move(process), {.sink = sink, .write_through = true});
  auto const lines = tracing::internal::FoldedLines::make(tracing::to_sink(sink), {}, nullptr, recording.start());
  auto const registry =
      tracing::RegistryBuilder().with(std::move(chrome)).with(std::make_unique<tracing::FlameLayer>(lines)).build();
  replay(
      recording, *registry, [](Entry const&) { return true; }, tracing::recording::LostEntries::shown);
}

// Converts the recording to all formats. Returns the sum of the bytes of all files.
std::size_t convert(Recording& recording) {
  std::size_t sum = 0;
  auto const out = [&sum](std::string_view bytes) { sum += sum_of(bytes); };
  auto const source = [&recording] {
    TraceSource made(recording);
    made.process = "fuzzed";
    made.section_of = tracing::recording::test_of;
    return made;
  };
  tracing::recording::write_perfetto(source(), out);
  tracing::recording::write_xplane(source(), {.hostname = "fuzzed"}, out);
  tracing::recording::write_chrome(source(), {.start = recording.start()}, out);
  return sum;
}

std::size_t add_up(Recording& recording, StatisticsBy by) {
  tracing::recording::StatisticsReader reader(by);
  tracing::recording::StatisticsSource source(recording);
  source.test_of = [](std::uint32_t tag) {  // leaves out some tests
    return tag % 4 == 3 ? std::nullopt : std::optional(tag == 0 ? std::string() : "Test." + std::to_string(tag));
  };
  reader.add(std::move(source));
  tracing::Statistics statistics = reader.finish();
  sort_statistics(statistics, tracing::StatisticsOrder::p95);
  tracing::TextBuffer text;
  append_statistics_table(text, statistics);
  append_statistics_json(text, statistics);
  return sum_of(text.view());
}

void read(std::string_view bytes) {
  std::string error;
  std::unique_ptr<Recording> const recording = Recording::read_bytes(bytes, error);
  require((recording == nullptr) == !error.empty());
  if (recording == nullptr) return;
  std::size_t sum = 0;
  recording->for_each([&](Entry const& entry) { sum += print(entry); });
  for (std::string const& problem : recording->problems()) require(!problem.empty());
  constexpr FormatKind kKinds[] = {FormatKind::full, FormatKind::pretty, FormatKind::json};
  auto const line = [&sum](tracing::Level, std::string_view text) { sum += sum_of(text); };
  auto const registry = tracing::RegistryBuilder()
                            .with(tracing::print_layer({.format = {.kind = kKinds[sum % std::size(kKinds)]},
                                                        .span_events = tracing::SpanEvents::full,
                                                        .writer = tracing::to_sink(tracing::make_sink(line))}))
                            .build();
  replay(*recording, *registry, [](Entry const&) { return true; });
  recording->narrow([&sum](Piece const& piece) {
    piece.has_span([](tracing::Metadata const&) { return true; },
                   [&sum](tracing::FieldValues const& values) { return sum += values.size(), false; });
    return ++sum % 3 == 0;
  });
  replay(*recording, *registry, [](Entry const&) { return true; });
  recording->widen();
  export_all(*recording, tracing::make_sink(line));
  sum += convert(*recording);
  constexpr StatisticsBy kGroups[] = {StatisticsBy::all, StatisticsBy::thread, StatisticsBy::test,
                                      StatisticsBy::target};
  sum += add_up(*recording, kGroups[sum % std::size(kGroups)]);
  require(sum != SIZE_MAX);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  read(tracing_fuzz::unpack({reinterpret_cast<char const*>(data), size}));
  return 0;
}
