// Measures the cost of a recording at its beginning: the memory of a program that records little, and the time of
// records in memory that is used for the first time, compared with records that overwrite others.
#include <chrono>
#include <memory>
#include <utility>

#include "support.h"
#include "tracing_core/record/record.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/record/ring/region.h"
#include "workload.h"

namespace {

using tracing::RegistryBuilder;
using tracing::internal::RecordLayer;
using tracing::internal::RecordStore;
using tracing::internal::Region;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::unique_ptr<tracing::Layer> layer_of_file(benchmark::State& state) {
  auto made = tracing::record_layer({.path = bench::temporary_path()});
  if (made.second) state.SkipWithError(made.second.message().c_str());
  return std::move(made.first);
}

// Measures the time from making the file to the last of 100 records, and the growth of the process's memory: of memory
// that it writes, and of all memory. The latter includes the pages of our code that run first, which processes share.
void recorded_small_program(benchmark::State& state) {
  constexpr char kMemory[] = "/proc/self/smaps_rollup";
  for (auto _ : state) {
    double const resident = bench::kib_in(kMemory, "Rss:"), written = bench::kib_in(kMemory, "Private_Dirty:");
    auto const begin = Clock::now();
    bench::use(state, [&state] { return RegistryBuilder().with(layer_of_file(state)).build(); });
    for (int i = 0; i < 20; ++i) workload::request(i, 2);
    state.SetIterationTime(seconds_since(begin));
    state.counters["resident_kib_more"] = bench::kib_in(kMemory, "Rss:") - resident;
    state.counters["written_kib_more"] = bench::kib_in(kMemory, "Private_Dirty:") - written;
  }
}
BENCHMARK(recorded_small_program)->Apply(bench::once);

constexpr std::size_t kLimitBytes = std::size_t{64} << 20;  // the default

std::unique_ptr<tracing::Layer> layer_of_memory(benchmark::State&) {
  return std::make_unique<RecordLayer>(std::make_shared<RecordStore>(Region::make_anonymous(kLimitBytes)));
}

enum class Lap : bool { first, later };

// Fills nearly all of the recording once. Before that it is empty, or filled by earlier records.
template <Lap lap, std::size_t kBytesOfRecord, class Layer, class Record>
void time_lap(benchmark::State& state, Layer layer, Record record) {
  int const records = bench::count_or(static_cast<int>(kLimitBytes / kBytesOfRecord / 100 * 95));
  for (auto _ : state) {
    bench::use(state, [&] { return RegistryBuilder().with(layer(state)).build(); });
    workload::in_three_spans([&] {
      for (int i = 0; lap == Lap::later && i < 2 * records; ++i) record(i, 2);
      auto const begin = Clock::now();
      for (int i = 0; i < records; ++i) record(i, 2);
      state.SetIterationTime(seconds_since(begin) / records);
    });
  }
}
template <Lap lap>
void event_lap(benchmark::State& state) {
  time_lap<lap, 32>(state, layer_of_memory, workload::event);
}
BENCHMARK(event_lap<Lap::later>)->Name("recorded_event_later_lap")->Apply(bench::once);
BENCHMARK(event_lap<Lap::first>)->Name("recorded_event_first_lap")->Apply(bench::once);

template <Lap lap>
void span_lap(benchmark::State& state) {
  time_lap<lap, 48>(state, layer_of_memory, workload::span);
}
BENCHMARK(span_lap<Lap::later>)->Name("recorded_span_later_lap")->Apply(bench::once);
BENCHMARK(span_lap<Lap::first>)->Name("recorded_span_first_lap")->Apply(bench::once);

template <Lap lap>
void file_event_lap(benchmark::State& state) {
  time_lap<lap, 32>(state, layer_of_file, workload::event);
}
BENCHMARK(file_event_lap<Lap::later>)->Name("recorded_file_event_later_lap")->Apply(bench::once);
BENCHMARK(file_event_lap<Lap::first>)->Name("recorded_file_event_first_lap")->Apply(bench::once);

}  // namespace
