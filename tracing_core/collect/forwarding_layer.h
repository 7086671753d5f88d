// ForwardingLayer: the base of layers that wrap one other layer.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/collect/layer.h"

namespace tracing::inline v1 {

/// Forwards every call to a child; derived layers override the calls that they change. `Pointer` is any kind of pointer
/// to the child, which must not be null.
template <class Pointer>
class BasicForwardingLayer : public Layer {
 public:
  explicit BasicForwardingLayer(Pointer child) noexcept : child_(std::move(child)) {}

  Hooks hooks() const noexcept override { return child_->hooks(); }
  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override {
    child_->on_new_span(span, made, context);
  }
  void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept override {
    child_->on_record(span, values, context);
  }
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    child_->on_follows_from(span, cause, context);
  }
  void on_event(Event const& event, Context const& context) noexcept override { child_->on_event(event, context); }
  void on_enter(SpanRef span, Context const& context) noexcept override { child_->on_enter(span, context); }
  void on_exit(SpanRef span, Context const& context) noexcept override { child_->on_exit(span, context); }
  void on_close(SpanRef span, Context const& context) noexcept override { child_->on_close(span, context); }
  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override {
    child_->on_timed(span, timing, context);
  }
  void flush() noexcept override { child_->flush(); }

 protected:
  auto& child() const noexcept { return *child_; }

 private:
  Pointer const child_;
};

/// Forwards to a layer that it owns.
using ForwardingLayer = BasicForwardingLayer<std::unique_ptr<Layer>>;

}  // namespace tracing::inline v1
