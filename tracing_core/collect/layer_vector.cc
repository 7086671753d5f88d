#include "tracing_core/collect/layer_vector.h"

namespace tracing { inline namespace v1 {
namespace {

template <class F>
void for_each_wanting(std::vector<std::unique_ptr<Layer>> const& layers, Hooks hook, F&& f) noexcept {
  for (auto const& layer : layers) {
    if (has(layer->hooks(), hook)) f(*layer);
  }
}

}  // namespace

LayerVector::LayerVector(std::vector<std::unique_ptr<Layer>> layers) : layers_(std::move(layers)) {
  std::erase(layers_, nullptr);
}

Hooks LayerVector::hooks() const noexcept {
  Hooks hooks = Hooks::none;
  for (auto const& layer : layers_) hooks = hooks | layer->hooks();
  // Hooks::scopes replaces four calls, which other layers here may need.
  return hooks & ~(Hooks::scopes | Hooks::direct);
}

void LayerVector::on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::new_span, [&](Layer& layer) { layer.on_new_span(span, made, context); });
}
void LayerVector::on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::record, [&](Layer& layer) { layer.on_record(span, values, context); });
}
void LayerVector::on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::follows_from, [&](Layer& layer) { layer.on_follows_from(span, cause, context); });
}
void LayerVector::on_event(Event const& event, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::event, [&](Layer& layer) { layer.on_event(event, context); });
}
void LayerVector::on_enter(SpanRef span, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::enter, [&](Layer& layer) { layer.on_enter(span, context); });
}
void LayerVector::on_exit(SpanRef span, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::exit, [&](Layer& layer) { layer.on_exit(span, context); });
}
void LayerVector::on_close(SpanRef span, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::close, [&](Layer& layer) { layer.on_close(span, context); });
}
void LayerVector::on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept {
  for_each_wanting(layers_, Hooks::timed, [&](Layer& layer) { layer.on_timed(span, timing, context); });
}
void LayerVector::on_dropped() noexcept {
  for (auto const& layer : layers_) layer->on_dropped();
}
void LayerVector::flush() noexcept {
  for (auto const& layer : layers_) layer->flush();
}

}}  // namespace tracing::v1
