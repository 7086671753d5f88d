// Measures the cost of a printed event with a message and two fields, inside three spans with two fields each.
#include <spdlog/logger.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "support.h"
#include "workload.h"

namespace {

using bench::CountingSink;
using tracing::FormatKind;
using tracing::RegistryBuilder;

std::shared_ptr<CountingSink> const& use_print_layer(benchmark::State& state, FormatKind kind) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [kind] {
    return RegistryBuilder()
        .with(tracing::print_layer({.format = {.kind = kind}, .writer = tracing::to_sink(sink)}))
        .build();
  });
  return sink;
}

void print_lines(benchmark::State& state, FormatKind kind) {
  auto const& sink = use_print_layer(state, kind);
  int i = 0;
  workload::in_three_spans([&] {
    for (auto _ : state) {
      ++i;
      workload::message(i, i * 0.5);
    }
  });
  bench::expect_bytes(state, *sink);
}

void line_full(benchmark::State& state) { print_lines(state, FormatKind::full); }
TRACING_BENCHMARK(line_full);
void line_compact(benchmark::State& state) { print_lines(state, FormatKind::compact); }
TRACING_BENCHMARK(line_compact);
void line_json(benchmark::State& state) { print_lines(state, FormatKind::json); }
TRACING_BENCHMARK(line_json);

// Prints a request: a span with three events.
void request_full(benchmark::State& state) {
  auto const& sink = use_print_layer(state, FormatKind::full);
  int i = 0;
  for (auto _ : state) workload::request(i++, 2);
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(request_full);
void request_full_2_threads(benchmark::State& state) {
  auto const& sink = use_print_layer(state, FormatKind::full);
  bench::on_threads(state, 2, [](int i) { workload::request(i, 2); });
  if (sink->bytes() == 0) state.SkipWithError("no bytes written");
}
TRACING_THREADS_BENCHMARK(request_full_2_threads);

// Prints to a file, by one write(2) for each line. write_alone measures the system's part of this.
void line_full_file(benchmark::State& state) {
  static auto const sink = [] {
    char path[] = "/tmp/tracing_benchmark_XXXXXX";
    auto const file = std::make_shared<tracing::FdSink>(mkstemp(path));
    unlink(path);
    return file;
  }();
  bench::use(state,
             [] { return RegistryBuilder().with(tracing::print_layer({.writer = tracing::to_sink(sink)})).build(); });
  int i = 0;
  workload::in_three_spans([&] {
    for (auto _ : state) {
      ++i;
      workload::message(i, i * 0.5);
      if (i % 100000 == 0 && ftruncate(sink->descriptor(), 0) != 0) state.SkipWithError("cannot truncate the file");
    }
  });
  if (sink->failed_writes() != 0) state.SkipWithError("a write failed");
}
TRACING_BENCHMARK(line_full_file);
void write_alone(benchmark::State& state) {
  constexpr std::size_t kBytesOfTheLine = 176;
  std::string const line(kBytesOfTheLine, 'x');
  char path[] = "/tmp/tracing_benchmark_XXXXXX";
  int const file = mkstemp(path);
  unlink(path);
  int i = 0;
  for (auto _ : state) {
    if (write(file, line.data(), line.size()) < 0) state.SkipWithError("cannot write");
    if (++i % 100000 == 0 && ftruncate(file, 0) != 0) state.SkipWithError("cannot truncate the file");
  }
  close(file);
}
TRACING_BENCHMARK(write_alone);

// A sink with a writing thread and its file, which write_out() empties before lines would be dropped.
struct NonBlocking {
  explicit NonBlocking(benchmark::State& state) {
    bench::use(state, [&] {
      return RegistryBuilder().with(tracing::print_layer({.writer = tracing::to_sink(made.first)})).build();
    });
  }
  void write_out(benchmark::State& state) {
    made.first->flush();
    if (ftruncate(file->descriptor(), 0) != 0) state.SkipWithError("cannot truncate the file");
    if (made.first->dropped() != 0) state.SkipWithError("a line was dropped");
  }
  static std::shared_ptr<tracing::FdSink> make_file() {
    char path[] = "/tmp/tracing_benchmark_XXXXXX";
    auto const file = std::make_shared<tracing::FdSink>(mkstemp(path));
    unlink(path);
    return file;
  }

  std::shared_ptr<tracing::FdSink> const file = make_file();
  std::pair<std::shared_ptr<tracing::NonBlockingSink>, tracing::WorkerGuard> const made = tracing::non_blocking(file);
};
constexpr int kLinesBetweenWriteOuts = 50'000;

// Measures the time on the emitting thread.
void line_non_blocking(benchmark::State& state) {
  static auto& output = *new NonBlocking(state);
  int i = 0;
  workload::in_three_spans([&] {
    for (auto _ : state) {
      ++i;
      workload::message(i, i * 0.5);
      if (i % kLinesBetweenWriteOuts != 0) continue;
      state.PauseTiming();
      output.write_out(state);
      state.ResumeTiming();
    }
  });
  output.write_out(state);  // otherwise several short runs would fill the queue
}
TRACING_BENCHMARK(line_non_blocking);

void line_non_blocking_2_threads(benchmark::State& state) {
  static auto& output = *new NonBlocking(state);
  int const lines = bench::count_or(kLinesBetweenWriteOuts);
  auto const around = [](auto run) { workload::in_three_spans(run); };
  for (auto _ : state) {
    double const seconds = bench::seconds_on_threads(2, around, [lines] {
      for (int i = 0; i < lines / 2; ++i) workload::message(i, i * 0.5);
    });
    state.SetIterationTime(seconds / lines);
    output.write_out(state);
  }
}
TRACING_THREADS_BENCHMARK(line_non_blocking_2_threads);

// The peer: a spdlog logger that prints this line through this sink.
void line_spdlog(benchmark::State& state) {
  auto const sink = std::make_shared<CountingSink>();
  spdlog::logger logger("workload", sink);
  logger.set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v");
  int i = 0;
  for (auto _ : state) {
    ++i;
    logger.info(
        "server{{device={} stream={}}}:launch{{count={} mode=\"{}\"}}:compile{{grid={} cached={}}}: {}: moved the "
        "block moved={} "
        "ratio={}",
        0, 7, 64, "checked", 16, true, "workload", i, i * 0.5);
  }
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(line_spdlog);

}  // namespace
