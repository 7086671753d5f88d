// LayerVector: several layers as one.
#pragma once

#include <memory>
#include <vector>

#include "tracing_core/collect/layer.h"

namespace tracing { inline namespace v1 {

/// Makes one layer of several, which share a filter or whose number is known only at run time. Calls them in order.
/// Null layers are left out; an empty vector does nothing.
class LayerVector final : public Layer {
 public:
  explicit LayerVector(std::vector<std::unique_ptr<Layer>> layers);

  Hooks hooks() const noexcept override;
  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override;
  void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept override;
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override;
  void on_event(Event const& event, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;
  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override;
  void on_dropped() noexcept override;
  void flush() noexcept override;

  std::vector<std::unique_ptr<Layer>> const& layers() const noexcept { return layers_; }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}}  // namespace tracing::v1
