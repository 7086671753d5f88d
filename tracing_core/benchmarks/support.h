// Helpers of the benchmarks. Every benchmark runs in its own process, because only a process with one subscriber uses
// the fast path of the dispatcher.
#pragma once

#include <benchmark/benchmark.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tracing_core/benchmarks/count.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/setup.h"

namespace bench {

/// Counts bytes, and drops them. Each thread has its own counter, so that no thread waits for another.
class CountingSink final : public tracing::LineSink {
 public:
  void write(tracing::Level, std::string_view text) noexcept override {
    std::atomic<std::uint64_t>& bytes = counters_[own_index() % kCounters].bytes;
    bytes.store(bytes.load(std::memory_order_relaxed) + text.size(), std::memory_order_relaxed);
  }
  std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (Counter const& counter : counters_) sum += counter.bytes.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr unsigned kCounters = 64;
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> bytes{0};
  };
  static unsigned own_index() noexcept {
    static constinit std::atomic<unsigned> last{0};
    static thread_local unsigned const own = last.fetch_add(1, std::memory_order_relaxed);
    return own;
  }

  Counter counters_[kCounters];
};

/// Sets the process's subscriber to the result of `make()`, in the first call only, since a benchmark is called many
/// times. Fails if another benchmark of the process has set it.
template <class F>
void use(benchmark::State& state, F make) {
  static bool const first = tracing::set_global_default(make());
  if (!first) state.SkipWithError("run each benchmark in its own process: tools/bench.sh does");
}

/// Reports the bytes per record, and fails if nothing was written.
inline void expect_bytes(benchmark::State& state, CountingSink const& sink) {
  if (state.thread_index() != 0) return;
  if (sink.bytes() == 0) state.SkipWithError("no bytes written");
  state.counters["bytes_per_record"] =
      static_cast<double>(sink.bytes()) / static_cast<double>(state.iterations() * state.threads());
}

/// Runs `work()` on several threads at once and returns the seconds from the beginning of the first to the end of the
/// last. Each thread calls `around(run)`, which calls `run()`.
template <class Around, class F>
double seconds_on_threads(std::size_t threads, Around around, F work) {
  using Clock = std::chrono::steady_clock;
  std::latch ready(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  std::vector<Clock::time_point> begins(threads), ends(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      around([&] {
        ready.arrive_and_wait();
        begins[t] = Clock::now();
        work();
        ends[t] = Clock::now();
      });
    });
  }
  for (std::thread& thread : running) thread.join();
  auto const took = *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
  return std::chrono::duration<double>(took).count();
}

/// Calls `f(i)` on several threads at once. An iteration's time is the time from the beginning of the first call to the
/// end of the last, divided by the number of all calls: with enough processors and no waiting, the time of one thread
/// divided by `threads`.
template <class F>
void on_threads(benchmark::State& state, int threads, F f) {
  int const calls = count_or(100'000 * threads) / threads;
  auto const after_first = [&f](auto run) {
    f(0);  // the first record of a thread costs more
    run();
  };
  for (auto _ : state) {
    double const seconds = seconds_on_threads(static_cast<std::size_t>(threads), after_first, [&] {
      for (int i = 0; i < calls; ++i) f(i);
    });
    state.SetIterationTime(seconds / (calls * threads));
  }
}

/// Returns the path of an empty file, which is removed at exit, since a benchmark is called several times.
inline std::string const& temporary_path() {
  static struct File {
    File() { close(mkstemp(path.data())); }
    ~File() { unlink(path.c_str()); }
    std::string path = "/tmp/tracing_benchmark_XXXXXX";
  } const file;
  return file.path;
}

/// Returns the number in a line of a file of /proc, such as `VmHWM:     1234 kB`.
inline double kib_in(char const* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

/// Returns the memory of the process that is in use, in bytes.
inline double resident_bytes() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Times a span handle from `open()` to its end, and reports the memory of one span among many open spans.
template <class F>
void time_open_span(benchmark::State& state, F open) {
  static double const bytes = [&open] {  // once, since a benchmark is called many times and memory is reused
    constexpr int kSpans = 100'000;
    std::vector<decltype(open())> spans(kSpans);
    double const before = resident_bytes();
    for (auto& span : spans) span = open();
    return (resident_bytes() - before) / kSpans;
  }();
  state.counters["bytes_of_open_span"] = bytes;
  for (auto _ : state) open();
}

/// Sets how often a benchmark with on_threads() repeats, whose calls are counted.
inline void few(benchmark::internal::Benchmark* one) { one->Iterations(count_or(0) != 0 ? 1 : 4)->UseManualTime(); }

}  // namespace bench

/// Registers a benchmark that uses on_threads().
#define TRACING_THREADS_BENCHMARK(f) BENCHMARK(f)->Apply(bench::few)
