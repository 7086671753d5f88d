// Declares Observer, a layer that notes that it saw something.
#pragma once

#include "tracing_core/collect/layer.h"

namespace conformance {

/// Counts the spans and events that reach it. For scenarios, where one thing happens at a time.
class Observer final : public tracing::Layer {
 public:
  /// `seen` outlives the layer.
  explicit Observer(std::size_t& seen) : seen_(seen) {}

  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::new_span | tracing::Hooks::event; }
  void on_new_span(tracing::SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override { ++seen_; }
  void on_event(tracing::Event const&, tracing::Context const&) noexcept override { ++seen_; }

 private:
  std::size_t& seen_;
};

}  // namespace conformance
