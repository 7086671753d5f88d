// For the format suites: a layer that prints to a string, and a function that removes durations.
#pragma once

#include <memory>
#include <string>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"

namespace conformance {

/// Returns a layer that appends to `out`, which must outlive it. Single-thread.
std::unique_ptr<tracing::Layer> printing_layer(tracing::PrintOptions options, std::string& out);
/// Returns a registry that has only a printing layer.
std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options, std::string& out);

/// Returns the text with `<T>` for the values of `time.busy` and `time.idle`, in any format.
std::string without_durations(std::string const& text);

}  // namespace conformance
