// Declares what the format suites share: a place that printed text goes to, and texts without the durations in them.
#pragma once

#include <memory>
#include <string>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"

namespace conformance {

/// A registry with one print layer that appends to `out`, which outlives it. For one thread at a time.
std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options, std::string& out);

/// The text with `<T>` where a value of `time.busy` or `time.idle` stands, whatever the format.
std::string without_durations(std::string const& text);

}  // namespace conformance
