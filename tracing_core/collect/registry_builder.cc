// How a registry comes to be, and when it goes.
#include <algorithm>

#include "tracing_core/collect/registry_parts.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1 {

using internal::bit;
using internal::kRegistryItself;

Registry::Registry(std::vector<std::unique_ptr<Attached>> layers, std::vector<std::unique_ptr<Filter>> filters)
    : layers_(std::move(layers)), filters_(std::move(filters)), store_(std::make_unique<SpanStore>(*this)) {
  if (layers_.empty()) always_ = kRegistryItself;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Filter* const filter = layers_[i]->filter.get();
    layer_filters_[i] = filter;
    layer_pointers_[i] = layers_[i]->layer.get();
    if (filter == nullptr) always_ |= bit(i);
    if (filter != nullptr && filter->follows_spans()) span_filters_ |= bit(i);
    if (filter != nullptr && filter->wants_events()) event_filters_ |= bit(i);
    if (filter != nullptr && filter->decides_by_gate()) by_gate_ |= bit(i);
    PerfRole const perf_role = filter != nullptr ? filter->perf_role() : PerfRole::none;
    if (perf_role != PerfRole::none) perf_filters_ |= bit(i);
    if (perf_role == PerfRole::registry) perf_for_all_ |= bit(i);
    Hooks const hooks = layers_[i]->layer->hooks();
    if (has(hooks, Hooks::new_span)) on_new_span_ |= bit(i);
    if (has(hooks, Hooks::record)) on_record_ |= bit(i);
    if (has(hooks, Hooks::follows_from)) on_follows_from_ |= bit(i);
    if (has(hooks, Hooks::event)) on_event_ |= bit(i);
    if (has(hooks, Hooks::enter)) on_enter_ |= bit(i);
    if (has(hooks, Hooks::exit)) on_exit_ |= bit(i);
    if (has(hooks, Hooks::close)) on_close_ |= bit(i);
    if (has(hooks, Hooks::timed)) on_timed_ |= bit(i);
  }
  for (auto const& filter : filters_) global_span_filters_ = global_span_filters_ || filter->follows_spans();
  filters_hear_events_ = event_filters_ != 0;
  for (auto const& filter : filters_) filters_hear_events_ = filters_hear_events_ || filter->wants_events();
  event_listeners_ = filters_hear_events_ ? ~Verdict{0} : on_event_;
  making_listeners_ = global_span_filters_ ? ~Verdict{0} : on_new_span_ | span_filters_;
  close_listeners_ = on_exit_ | on_close_;  // what a filter keeps with the span is found in the span
  scope_listeners_ = making_listeners_ | on_enter_ | close_listeners_;
}

Registry::~Registry() = default;

RegistryBuilder::RegistryBuilder() = default;
RegistryBuilder::RegistryBuilder(RegistryBuilder&&) noexcept = default;
RegistryBuilder& RegistryBuilder::operator=(RegistryBuilder&&) noexcept = default;
RegistryBuilder::~RegistryBuilder() = default;

RegistryBuilder&& RegistryBuilder::with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter) && {
  if (layer != nullptr && layers_.size() < kMostLayers) {
    layers_.push_back(std::make_unique<Registry::Attached>(Registry::Attached{std::move(layer), std::move(filter)}));
  }
  return std::move(*this);
}

RegistryBuilder&& RegistryBuilder::with_filter(std::unique_ptr<Filter> filter) && {
  if (filter != nullptr) filters_.push_back(std::move(filter));
  return std::move(*this);
}

namespace {

constinit internal::NeverDestroyed<Registry::Graveyard> graveyard;

}  // namespace

void Registry::Graveyard::retire(Registry* registry) noexcept {
  registry->retired_.store(true, std::memory_order_release);
  registry->store_->close_open_ones_slowly();
  registry->flush();
  try {
    std::lock_guard const lock(graveyard->mutex);
    graveyard->waiting.emplace_back(registry);
  } catch (...) {  // then it stays
  }
  bury();
  internal::forget_dead_subscribers();
}

void Registry::Graveyard::bury() noexcept {
  std::unique_ptr<Registry> done;
  do {
    done.reset();
    std::lock_guard const lock(graveyard->mutex);
    auto const found = std::find_if(graveyard->waiting.begin(), graveyard->waiting.end(),
                                    [](auto const& retired) { return !retired->has_open_spans(); });
    if (found == graveyard->waiting.end()) return;
    done = std::move(*found);
    graveyard->waiting.erase(found);
  } while (true);
}

std::shared_ptr<Registry> RegistryBuilder::build() && {
  return std::shared_ptr<Registry>(new Registry(std::move(layers_), std::move(filters_)), Registry::Graveyard::retire);
}

}  // namespace tracing::inline v1
