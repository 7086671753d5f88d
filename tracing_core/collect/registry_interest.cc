// What a registry wants of each callsite, by its filters.
#include <algorithm>

#include "tracing_core/collect/registry_parts.h"

namespace tracing::inline v1 {

using internal::bit;
using internal::for_each_layer;
using internal::kAskGlobal;
using internal::lowest;

// Calls `f(filter, layers that see what it lets pass)` for each filter that decides about this perf callsite.
template <class F>
void Registry::for_each_perf_filter(Metadata const& metadata, F&& f) noexcept {
  Verdict const all = static_cast<Verdict>((std::uint64_t{1} << layers_.size()) - 1);
  for_each_layer(perf_filters_, [&](std::size_t i) {
    if (metadata.level() <= layer_filters_[i]->max_level_hint())
      f(*layer_filters_[i], (perf_for_all_ & bit(i)) != 0 ? all : bit(i));
  });
}

Registration Registry::register_perf(Metadata const& metadata) noexcept {
  Registration result;
  for_each_perf_filter(metadata, [&](Filter& filter, Verdict layers) {
    Interest const interest = filter.callsite_enabled(metadata);
    if (interest == Interest::always) result.wanted |= layers;
    if (interest == Interest::sometimes) result.undecided |= layers;
  });
  result.undecided &= ~result.wanted;
  result.interest = result.wanted != 0 ? Interest::always : Interest::never;
  if (result.undecided != 0) {
    result.undecided |= kAskGlobal;  // no filter alone knows
    result.interest = Interest::sometimes;
  }
  return result;
}

Verdict Registry::ask_perf_filters(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
  for_each_perf_filter(metadata, [&](Filter& filter, Verdict layers) {
    if ((layers & undecided) != 0 && filter.enabled(metadata)) wanted |= layers;
  });
  return wanted;
}

Registration Registry::register_callsite(Metadata const& metadata) noexcept {
  if (metadata.is_perf()) return register_perf(metadata);
  Registration result;
  for (auto const& filter : filters_) {
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::never) return {};
    if (interest == Interest::sometimes) result.undecided |= kAskGlobal;
  }
  result.wanted = always_;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Filter* const filter = layers_[i]->filter.get();
    if (filter == nullptr || metadata.level() > filter->max_level_hint()) continue;
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::always) result.wanted |= bit(i);
    if (interest == Interest::sometimes) result.undecided |= bit(i);
  }
  if (result.undecided != 0) {
    result.by_gate = (result.undecided & ~by_gate_) == 0;
    result.interest = (result.wanted | (result.undecided & ~kAskGlobal)) != 0 ? Interest::sometimes : Interest::never;
  } else {
    result.interest = result.wanted != 0 ? Interest::always : Interest::never;
  }
  return result;
}

LevelFilter Registry::max_level_hint() const noexcept {
  LevelFilter hint = always_ != 0 ? LevelFilter::trace : LevelFilter::off;
  for (auto const& attached : layers_) {
    if (attached->filter != nullptr) hint = std::max(hint, attached->filter->max_level_hint());
  }
  for (auto const& filter : filters_) hint = std::min(hint, filter->max_level_hint());
  // Whatever the filters of the whole registry say: these are asked about perf spans.
  for_each_layer(perf_filters_, [&](std::size_t i) { hint = std::max(hint, layer_filters_[i]->max_level_hint()); });
  return hint;
}

Verdict Registry::enabled(Metadata const& metadata) noexcept {
  // What a filter says of a callsite once and for all stands above what it says of the moment, as it does where
  // callsites remember it.
  Registration const known = register_callsite(metadata);
  return known.interest == Interest::sometimes ? enabled_now(metadata, known.wanted, known.undecided) : known.wanted;
}

Verdict Registry::enabled_now(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
  bool const one = (undecided & (undecided - 1)) == 0;
  if (!one || undecided == kAskGlobal) [[unlikely]] return ask_filters(metadata, wanted, undecided);
  return layer_filters_[lowest(undecided)]->enabled_now(metadata) ? wanted | undecided : wanted;
}

Verdict Registry::ask_filters(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
  if (metadata.is_perf()) return ask_perf_filters(metadata, wanted, undecided);
  if ((undecided & kAskGlobal) != 0) {
    for (auto const& filter : filters_) {
      if (!filter->enabled(metadata)) return 0;
    }
  }
  for_each_layer(undecided & ~kAskGlobal, [&](std::size_t i) {
    if (layer_filters_[i]->enabled_now(metadata)) wanted |= bit(i);
  });
  return wanted;
}

}  // namespace tracing::inline v1
