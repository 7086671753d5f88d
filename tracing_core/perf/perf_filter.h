// Declares filters that decide about perf spans: by their own directives, and beside another filter.
#pragma once

#include <memory>

#include "tracing_core/filter/env_filter.h"

namespace tracing::inline v1 {

/// Lets those perf spans and perf events pass that `selection` lets pass, for all layers of the registry, or for its own
/// alone. Nothing else passes, but the ordinary spans that directives of `selection` name: they decide about what is inside.
/// Without `events` no perf event passes: for layers that would do nothing with them, so that they are not even made.
std::unique_ptr<Filter> perf_filter(EnvFilter selection, PerfRole role = PerfRole::registry, bool events = true);

/// Lets all perf spans and perf events pass to its layer, and of everything else what `ordinary` lets pass; all where that is
/// null. For registries that print records which were selected before.
std::unique_ptr<Filter> with_perf_spans(std::unique_ptr<Filter> ordinary);

}  // namespace tracing::inline v1
