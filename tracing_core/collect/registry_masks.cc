// Who is called for which record.
#include "tracing_core/collect/registry_parts.h"

namespace tracing::inline v1 {

using internal::bit;

internal::RegistryMasks Registry::compute_masks(Layers const& layers, Filters const& filters) noexcept {
  internal::RegistryMasks masks;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Hooks const hooks = layers[i]->layer->hooks();
    auto const add = [&](LayerMask& mask, bool condition) { mask |= condition ? bit(i) : 0; };
    add(masks.on_new_span, has(hooks, Hooks::new_span));
    add(masks.on_record, has(hooks, Hooks::record));
    add(masks.on_follows_from, has(hooks, Hooks::follows_from));
    add(masks.on_event, has(hooks, Hooks::event));
    add(masks.on_enter, has(hooks, Hooks::enter));
    add(masks.on_exit, has(hooks, Hooks::exit));
    add(masks.on_close, has(hooks, Hooks::close));
    add(masks.on_timed, has(hooks, Hooks::timed));
    Filter* const filter = layers[i]->filter.get();
    add(masks.unfiltered, filter == nullptr);
    if (filter == nullptr) continue;
    add(masks.by_thread_level, filter->decides_by_thread_level());
    add(masks.span_filters, filter->follows_spans());
    add(masks.event_filters, filter->wants_events());
    add(masks.perf_filters, filter->perf_role() != PerfRole::none);
    add(masks.perf_for_all, filter->perf_role() == PerfRole::registry);
  }
  if (layers.empty()) masks.unfiltered = internal::kRegistryItself;
  masks.event = masks.event_filters != 0 ? masks.kAll : masks.on_event;
  masks.creation = masks.on_new_span | masks.span_filters;
  for (auto const& filter : filters) {
    if (filter->wants_events()) masks.event = masks.kAll;
    if (filter->follows_spans()) masks.creation = masks.kAll;
  }
  masks.scope = masks.creation | masks.on_enter | masks.end();
  return masks;
}

}  // namespace tracing::inline v1
