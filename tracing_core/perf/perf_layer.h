// Declares the layer that perf spans are collected by, what it is told to do, and the running summary that it keeps.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/writer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/perf/perf_summary.h"

namespace tracing::inline v1 {

/// What becomes of perf spans.
struct PerfOptions {
  /// Which ones; everything by default. The grammar is that of EnvFilter: `gpu=debug,[launch{stream=7}]=trace`.
  std::string directives = "trace";
  /// Whether every layer of the registry sees them and is told, by an event, how long each took. Off: they are summed up,
  /// and no other layer sees them, which costs half as much.
  bool report = true;
  /// Spans that are shorter do not report how long they took, unless they have a threshold of their own. All are summed up.
  std::chrono::nanoseconds threshold{0};
  /// Gets an object on a line for each report and each perf event, where that is not null.
  WriterPtr json{};
  /// Names that have a row of their own in the summary. What comes later shares the row `(others)`. Each takes some 3 KiB
  /// for each thread that uses it.
  std::size_t most_names = 1024;
};

/// How long perf spans took so far. Thread-safe; reading takes a lock that only threads wait for which meet a name for the
/// first time.
class PerfStatistics {
 public:
  PerfStatistics() = default;
  PerfStatistics(PerfStatistics const&) = delete;
  PerfStatistics& operator=(PerfStatistics const&) = delete;
  virtual ~PerfStatistics() = default;

  /// All spans that ended so far.
  virtual PerfSummary summary() const = 0;
};

/// The layer, the filter to attach it with, and the statistics, which live on without the layer.
struct PerfLayer {
  std::unique_ptr<Layer> layer;
  std::unique_ptr<Filter> filter;
  std::shared_ptr<PerfStatistics const> statistics;
};

/// Turns perf spans on:
///
///     auto [layer, filter, statistics] = tracing::perf_layer({.threshold = 500us});
///     tracing::set_global_default(
///         tracing::RegistryBuilder().with(print_layer()).with(std::move(layer), std::move(filter)).build());
///
/// Its directives alone select perf spans: the other layers' filters are not asked about them. Directives that are wrong are
/// left out; they are added to `errors`, or written to standard error where that is null.
PerfLayer perf_layer(PerfOptions options = {}, std::vector<ParseError>* errors = nullptr);

}  // namespace tracing::inline v1
