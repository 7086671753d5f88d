// Filters for perf spans.
#pragma once

#include <memory>

#include "tracing_core/filter/env_filter.h"

namespace tracing::inline v1 {

/// Passes the perf spans and perf events that `selection` selects, and the ordinary spans that its directives name,
/// since those select what is inside of them. `role` says if this decides for all layers of the registry or for its own
/// layer. Without `events` no perf event passes, so that none is made for a layer that ignores them.
std::unique_ptr<Filter> perf_filter(EnvFilter selection, PerfRole role = PerfRole::registry, bool events = true);

/// Passes all perf spans and perf events, and of other records those that `ordinary` passes; all of them if it is null.
/// For registries that print records which were selected before.
std::unique_ptr<Filter> with_perf_spans(std::unique_ptr<Filter> ordinary);

}  // namespace tracing::inline v1
