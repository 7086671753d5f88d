// Filters for perf spans.
#pragma once

#include <memory>

#include "tracing_core/filter/env_filter.h"

namespace tracing { inline namespace v1 {

/// Passes the perf spans and perf events that `selection` selects, and the ordinary spans that its directives name,
/// since such a span selects what is inside of it. `role` tells whether the filter decides for all layers of the
/// registry or for its own layer. If `events` is false, no perf event passes, so that no event is made for a layer that
/// ignores events.
std::unique_ptr<Filter> perf_filter(EnvFilter selection, PerfRole role = PerfRole::registry, bool events = true);

/// Passes all perf spans and perf events, and the other records that `ordinary` passes, or all of them if `ordinary` is
/// null. For registries that print records which were selected before.
std::unique_ptr<Filter> with_perf_spans(std::unique_ptr<Filter> ordinary);

}}  // namespace tracing::v1
