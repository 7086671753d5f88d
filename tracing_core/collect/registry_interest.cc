// Decides which records of a callsite the layers want, by their filters.
#include <algorithm>

#include "tracing_core/collect/registry_parts.h"

namespace tracing { inline namespace v1 {

using internal::bit;
using internal::for_each_layer;
using internal::kGlobalUndecided;
using internal::lowest;

// Calls `f(filter, layers)` for each filter that decides about this perf callsite, and the layers for which the filter
// decides.
template <class F>
void Registry::for_each_perf_filter(Metadata const& metadata, F&& f) noexcept {
  LayerMask const all = static_cast<LayerMask>((std::uint64_t{1} << layers_.size()) - 1);
  LayerMask const others = all & ~masks_.perf_filters;
  for_each_layer(masks_.perf_filters, [&](std::size_t i) {
    if (metadata.level() <= layer_filters_[i]->max_level_hint())
      f(*layer_filters_[i], (masks_.perf_for_all & bit(i)) != 0 ? others | bit(i) : bit(i));
  });
}

Registration Registry::register_perf(Metadata const& metadata) noexcept {
  Registration result;
  for_each_perf_filter(metadata, [&](Filter& filter, LayerMask layers) {
    Interest const interest = filter.callsite_enabled(metadata);
    if (interest == Interest::always) result.wanted |= layers;
    if (interest == Interest::sometimes) result.undecided |= layers;
  });
  result.undecided &= ~result.wanted;
  result.interest = result.wanted != 0 ? Interest::always : Interest::never;
  if (result.undecided != 0) {
    result.undecided |= kGlobalUndecided;  // a second bit, so that enabled_now() calls query_filters()
    result.interest = Interest::sometimes;
  }
  return result;
}

LayerMask Registry::query_perf_filters(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept {
  for_each_perf_filter(metadata, [&](Filter& filter, LayerMask layers) {
    if ((layers & undecided) != 0 && filter.enabled(metadata)) wanted |= layers;
  });
  return wanted;
}

void Registry::prepare_interest() noexcept {
  LayerMask following = 0;
  for_each_layer(masks_.span_filters,
                 [&](std::size_t i) { following |= layer_filters_[i]->follows_new_spans() ? bit(i) : 0; });
  following_.store(following, std::memory_order_relaxed);
}

// Wants annotations only for the attached layer, whatever the filters of other layers say.
Registration Registry::register_annotation(Metadata const& metadata) noexcept {
  std::size_t const spare = layers_.size() - 1;
  if (layer_filters_[spare]->callsite_enabled(metadata) != Interest::always) return {};
  return {.interest = Interest::always, .wanted = bit(spare)};
}

Registration Registry::register_callsite(Metadata const& metadata) noexcept {
  if (metadata.is_annotation()) [[unlikely]]
    return register_annotation(metadata);
  if (metadata.is_perf()) return register_perf(metadata);
  Registration result;
  for (auto const& filter : filters_) {
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::never) return {};
    if (interest == Interest::sometimes) result.undecided |= kGlobalUndecided;
  }
  result.wanted = masks_.unfiltered;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Filter* const filter = layers_[i]->filter.get();
    if (filter == nullptr || metadata.level() > filter->max_level_hint()) continue;
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::always) result.wanted |= bit(i);
    if (interest == Interest::sometimes) result.undecided |= bit(i);
  }
  if (result.undecided != 0) {
    result.by_thread_level = (result.undecided & ~masks_.by_thread_level) == 0;
    result.interest =
        (result.wanted | (result.undecided & ~kGlobalUndecided)) != 0 ? Interest::sometimes : Interest::never;
  } else {
    result.interest = result.wanted != 0 ? Interest::always : Interest::never;
  }
  return result;
}

LevelFilter Registry::max_level_hint() const noexcept {
  LevelFilter hint = masks_.unfiltered != 0 ? LevelFilter::trace : LevelFilter::off;
  for (auto const& attached : layers_) {
    if (attached->filter != nullptr) hint = std::max(hint, attached->filter->max_level_hint());
  }
  for (auto const& filter : filters_) hint = std::min(hint, filter->max_level_hint());
  // Only these filters decide about perf spans, not the filters of the entire registry.
  for_each_layer(masks_.perf_filters,
                 [&](std::size_t i) { hint = std::max(hint, layer_filters_[i]->max_level_hint()); });
  return hint;
}

LayerMask Registry::enabled(Metadata const& metadata) noexcept {
  // A constant answer of a filter about a callsite takes precedence over the filter's enabled(), as in a cached answer.
  Registration const known = register_callsite(metadata);
  return known.interest == Interest::sometimes ? enabled_now(metadata, known.wanted, known.undecided) : known.wanted;
}

LayerMask Registry::enabled_now(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept {
  bool const one = (undecided & (undecided - 1)) == 0;
  if (!one || undecided == kGlobalUndecided) [[unlikely]]
    return query_filters(metadata, wanted, undecided);
  return layer_filters_[lowest(undecided)]->enabled_now(metadata) ? wanted | undecided : wanted;
}

LayerMask Registry::query_filters(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept {
  if (metadata.is_perf()) return query_perf_filters(metadata, wanted, undecided);
  if ((undecided & kGlobalUndecided) != 0) {
    for (auto const& filter : filters_) {
      if (!filter->enabled(metadata)) return 0;
    }
  }
  for_each_layer(undecided & ~kGlobalUndecided, [&](std::size_t i) {
    if (layer_filters_[i]->enabled_now(metadata)) wanted |= bit(i);
  });
  return wanted;
}

}}  // namespace tracing::v1
