// The layer that collects perf spans, and the summary that it keeps.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/writer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/perf/perf_summary.h"

namespace tracing { inline namespace v1 {

struct PerfOptions {
  /// Selects perf spans; by default all perf spans up to level debug. EnvFilter has the grammar:
  /// `gpu=debug,[launch{stream=7}]=trace`.
  std::string directives = "debug";
  /// If true, all layers of the registry see perf spans, and an event reports the duration of each. If false, perf
  /// spans are only summed up, which costs half as much.
  bool report = true;
  /// Spans with a shorter duration do not report it, unless they have a threshold of their own. `json` does not get
  /// events of recorders with a shorter duration. All spans are summed up.
  std::chrono::nanoseconds threshold{0};
  /// Receives a JSON object per line for each report and each perf event. May be null.
  WriterPtr json{};
};

/// A layer, the filter with which to attach it, and the statistics, which may outlive the layer.
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
/// skipped and added to `errors`, or written to standard error if `errors` is null.
PerfLayer perf_layer(PerfOptions options = {}, std::vector<ParseError>* errors = nullptr);

namespace internal {

class PerfTable;

// Appends members to the JSON object of a span that ended, or of an event inside it, on a track.
using AppendPerfMembers = std::function<void(TextBuffer& line, SpanRef span, Track const& track)>;

// As the public perf_layer(), but several layers may share `table`.
PerfLayer perf_layer(PerfOptions options, std::shared_ptr<PerfTable> table, std::vector<ParseError>* errors,
                     AppendPerfMembers append_members = {});

}  // namespace internal

}}  // namespace tracing::v1
