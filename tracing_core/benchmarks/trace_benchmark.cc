// Measures the cost of a span with two integer fields in a trace file: on the traced thread, and until the file is
// complete. Has no peer, since tracing-chrome and tracing-flame are not Debian packages.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "support.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/flame.h"
#include "workload.h"

namespace {

using tracing::RegistryBuilder;

constexpr int kSpansOfAFile = 100'000;

double size_of(std::string const& path) {
  struct stat what {};
  return stat(path.c_str(), &what) == 0 ? static_cast<double>(what.st_size) : 0;
}

// Does not use getrusage(), whose peak includes the peak of the program that started this one.
double peak_kib() { return bench::kib_in("/proc/self/status", "VmHWM:"); }

// Writes files of kSpansOfAFile spans, one after another, to one path. `complete()` completes a file and `start_next()`
// starts the next. The time of complete() counts if `counts_completion`.
template <class F, class G>
void write_spans(benchmark::State& state, std::string const& path, bool counts_completion, F complete, G start_next) {
  double const before = peak_kib();
  double bytes = 0;
  long spans = 0;
  auto const next = [&] {
    if (!counts_completion) state.PauseTiming();
    complete();
    if (counts_completion) state.PauseTiming();
    bytes += size_of(path);
    start_next();
    state.ResumeTiming();
  };
  for (auto _ : state) {
    workload::span(static_cast<int>(spans), 2);
    if (++spans % kSpansOfAFile == 0) next();
  }
  complete();
  bytes += size_of(path);
  start_next();
  if (bytes == 0) state.SkipWithError("no bytes written");
  state.counters["bytes_per_span"] = bytes / static_cast<double>(spans);
  state.counters["peak_kib_more"] = peak_kib() - before;
}

void write_chrome(benchmark::State& state, bool counts_completion) {
  std::string const& path = bench::temporary_path();
  static tracing::ChromeGuard guard;
  bench::use(state, [&path] {
    auto made = tracing::chrome_layer({.path = path});
    guard = std::move(made.second);
    return RegistryBuilder().with(std::move(made.first)).build();
  });
  write_spans(
      state, path, counts_completion, [] { guard.stop(); }, [&path] { (void)guard.start_new(path); });
  if (guard.dropped() != 0) state.SkipWithError("records are missing");
}

void chrome_span(benchmark::State& state) { write_chrome(state, false); }
TRACING_BENCHMARK(chrome_span);
void chrome_span_complete(benchmark::State& state) { write_chrome(state, true); }
BENCHMARK(chrome_span_complete)->Iterations(kSpansOfAFile)->UseRealTime()->Apply(bench::count);

// Writes one file of 10^7 spans, until it is complete.
void chrome_span_10m(benchmark::State& state) {
  constexpr int kSpans = 10'000'000;
  using Clock = std::chrono::steady_clock;
  std::string const& path = bench::temporary_path();
  for (auto _ : state) {
    double const before = peak_kib();
    auto made = tracing::chrome_layer({.path = path});
    bench::use(state, [&made] { return RegistryBuilder().with(std::move(made.first)).build(); });
    auto const begin = Clock::now();
    for (int i = 0; i < kSpans; ++i) workload::span(i, 2);
    made.second.stop();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count() / kSpans);
    if (made.second.dropped() != 0) state.SkipWithError("records are missing");
    state.counters["bytes_per_span"] = size_of(path) / kSpans;
    state.counters["peak_kib_more"] = peak_kib() - before;
  }
}
BENCHMARK(chrome_span_10m)->Apply(bench::once);

void folded_span(benchmark::State& state) {
  std::string const& path = bench::temporary_path();
  static tracing::FlameGuard guard;
  bench::use(state, [&path] {
    std::error_code error;
    auto made = tracing::flame_layer(path, error);
    guard = std::move(made.second);
    return RegistryBuilder().with(std::move(made.first)).build();
  });
  write_spans(
      state, path, true, [] { guard.flush(); }, [&path] { (void)!truncate(path.c_str(), 0); });
}
BENCHMARK(folded_span)->Iterations(kSpansOfAFile)->Apply(bench::count);

}  // namespace
