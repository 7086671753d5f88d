// Used by the format suites: a layer that prints to a string, and removal of durations.
#pragma once

#include <memory>
#include <string>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"

namespace conformance {

/// A layer that appends to `out`, which must outlive it. Single-thread.
std::unique_ptr<tracing::Layer> printing_layer(tracing::PrintOptions options, std::string& out);
/// A registry with such a layer alone.
std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options, std::string& out);

/// The text with `<T>` for the values of `time.busy` and `time.idle`, in any format.
std::string without_durations(std::string const& text);

}  // namespace conformance
