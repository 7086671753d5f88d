// Declares the layer that captures: it fills the ring and remembers what exceptions unwound.
#pragma once

#include <memory>
#include <string>

#include "testlog/attribution.h"
#include "tracing_core/collect/layer.h"

namespace testlog::inline v1 {

/// Passes everything on to `ring`, having told `attribution` about it.
std::unique_ptr<tracing::Layer> capture_layer(std::unique_ptr<tracing::Layer> ring, Attribution& attribution);

/// Appends the path of the spans that this thread is in, the outermost first: `launch{count=4}:compile{kernel="double"}`.
void append_current_path(tracing::TextBuffer& out, tracing::Registry const& registry) noexcept;

/// The path of the innermost span of this thread that the exception left which this thread now handles; empty where it left
/// none, or the thread recorded anything since that one was caught.
std::string unwound_path();
/// From now on there is none, on this thread.
void forget_unwound() noexcept;

}  // namespace testlog::inline v1
