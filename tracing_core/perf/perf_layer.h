// The layer that collects perf spans, and the summary that it keeps.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/writer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/perf/perf_summary.h"

namespace tracing::inline v1 {

struct PerfOptions {
  /// Selects perf spans; by default all but those of level trace. The grammar is that of EnvFilter:
  /// `gpu=debug,[launch{stream=7}]=trace`.
  std::string directives = "debug";
  /// If true, all layers of the registry see perf spans, and an event reports the duration of each. If false, perf
  /// spans are only summed up, which costs half as much.
  bool report = true;
  /// Shorter spans do not report their duration, unless they have a threshold of their own, nor does `json` get events
  /// of recorders with a shorter one. All spans are summed up.
  std::chrono::nanoseconds threshold{0};
  /// Receives a JSON object per line for each report and each perf event; null: none.
  WriterPtr json{};
};

/// The durations of perf spans so far. Thread-safe; reading takes a lock that other threads take only when they meet a
/// callsite for the first time.
class PerfStatistics {
 public:
  PerfStatistics() = default;
  PerfStatistics(PerfStatistics const&) = delete;
  PerfStatistics& operator=(PerfStatistics const&) = delete;
  virtual ~PerfStatistics() = default;

  /// All spans that ended so far.
  virtual PerfSummary summary() const = 0;
};

/// The layer, the filter to attach it with, and the statistics, which may outlive the layer.
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
/// Only `directives` selects perf spans: the filters of other layers are not asked about them. Invalid directives are
/// skipped and added to `errors`, or written to standard error if that is null.
PerfLayer perf_layer(PerfOptions options = {}, std::vector<ParseError>* errors = nullptr);

}  // namespace tracing::inline v1
