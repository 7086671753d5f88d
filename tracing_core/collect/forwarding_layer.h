// ForwardingLayer: the base of layers that wrap one other layer. RoutingLayer: the base of layers that choose among
// several.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/collect/layer.h"

namespace tracing { inline namespace v1 {

/// Passes each call on to a layer that `Derived` chooses by these two functions. Drops the call if they return null:
///
///     Layer* layer_for(SpanRef span, bool enters) noexcept;   // `enters`: a track enters the span
///     Layer* layer_for(Event const& event, Context const& context) noexcept;
///
/// `Derived` also implements hooks() and flush().
template <class Derived>
class RoutingLayer : public Layer {
 public:
  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_new_span(span, made, context);
  }
  void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_record(span, values, context);
  }
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_follows_from(span, cause, context);
  }
  void on_event(Event const& event, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(event, context)) layer->on_event(event, context);
  }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, true)) layer->on_enter(span, context);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_exit(span, context);
  }
  void on_close(SpanRef span, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_close(span, context);
  }
  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_timed(span, timing, context);
  }
  void on_scope_begin(SpanRef span, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, true)) layer->on_scope_begin(span, context);
  }
  void on_scope_end(SpanRef span, Context const& context) noexcept override {
    if (Layer* const layer = self().layer_for(span, false)) layer->on_scope_end(span, context);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

/// Forwards every call to a child; derived layers override the calls that they change. `Pointer` is any kind of pointer
/// to the child, which must not be null.
template <class Pointer>
class BasicForwardingLayer : public RoutingLayer<BasicForwardingLayer<Pointer>> {
 public:
  explicit BasicForwardingLayer(Pointer child) noexcept : child_(std::move(child)) {}

  Hooks hooks() const noexcept override { return child_->hooks(); }
  void flush() noexcept override { child_->flush(); }
  void on_dropped() noexcept override { child_->on_dropped(); }

  Layer* layer_for(SpanRef, bool) const noexcept { return &*child_; }
  Layer* layer_for(Event const&, Context const&) const noexcept { return &*child_; }

 protected:
  auto& child() const noexcept { return *child_; }

 private:
  Pointer const child_;
};

/// Forwards to a layer that it owns.
using ForwardingLayer = BasicForwardingLayer<std::unique_ptr<Layer>>;

}}  // namespace tracing::v1
