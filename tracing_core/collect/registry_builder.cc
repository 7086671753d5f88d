// Builds a registry, computes which layers are called for which record, and destroys the registry after its last span.
#include <algorithm>
#include <new>

#include "tracing_core/collect/registry_parts.h"
#include "tracing_core/collect/spare_layer.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/never_destroyed.h"

namespace tracing { inline namespace v1 {

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
    add(masks.scopes, has(hooks, Hooks::scopes));
    add(masks.direct, masks.direct == 0 && has(hooks, Hooks::direct));
    add(masks.all_values, has(hooks, Hooks::all_values));
    Filter* const filter = layers[i]->filter.get();
    add(masks.unfiltered, filter == nullptr);
    if (filter == nullptr) continue;
    add(masks.by_thread_level, filter->decides_by_thread_level());
    add(masks.span_filters, filter->follows_spans());
    add(masks.event_filters, filter->wants_events());
    add(masks.perf_filters, filter->perf_role() != PerfRole::none);
    add(masks.perf_for_all, filter->perf_role() == PerfRole::registry);
  }
  if (layers.size() == 1) masks.unfiltered = internal::kRegistryItself;  // it has no layer except the spare one
  masks.event = masks.event_filters != 0 ? masks.kAll : masks.on_event;
  masks.creation = masks.on_new_span & ~masks.scopes;
  for (auto const& filter : filters) {
    if (filter->wants_events()) masks.event = masks.kAll;
    if (filter->follows_spans()) masks.creation = masks.kAll;
  }
  if (masks.event == masks.kAll || masks.creation == masks.kAll) masks.direct = 0;
  masks.scope = masks.begin() | masks.span_filters | masks.end();
  return masks;
}

Registry::Registry(Layers layers, Filters filters)
    : layers_(std::move(layers)),
      filters_(std::move(filters)),
      spare_layer_(static_cast<internal::SpareLayer&>(*layers_.back()->layer)),
      spare_filter_(static_cast<internal::SpareFilter&>(*layers_.back()->filter)),
      masks_(compute_masks(layers_, filters_)),
      store_(std::make_unique<SpanStore>(*this)),
      following_(masks_.span_filters) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layer_pointers_[i] = layers_[i]->layer.get();
    layer_filters_[i] = layers_[i]->filter.get();
  }
  if (masks_.direct != 0) direct_layer_ = layer_pointers_[internal::lowest(masks_.direct)];
}

Registry::~Registry() = default;

bool Registry::attach(std::shared_ptr<Layer> layer, std::unique_ptr<Filter> filter) {
  if (internal::thread_state.in_subscriber) return false;
  spare_layer_.set(std::move(layer));
  if (!spare_filter_.attach(std::move(filter))) return false;
  try {
    rebuild_interest();
  } catch (std::bad_alloc const&) {
    spare_filter_.detach();
    throw;
  }
  return true;
}

void Registry::detach() noexcept {
  spare_filter_.detach();
  try {
    rebuild_interest();
  } catch (std::bad_alloc const&) {  // the change takes effect with the next rebuild; until then the layer gets more
                                     // records
  }
}

RegistryBuilder::RegistryBuilder() = default;
RegistryBuilder::RegistryBuilder(RegistryBuilder&&) noexcept = default;
RegistryBuilder& RegistryBuilder::operator=(RegistryBuilder&&) noexcept = default;
RegistryBuilder::~RegistryBuilder() = default;

RegistryBuilder& RegistryBuilder::with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter) & {
  if (layer != nullptr && layers_.size() < kMaxLayers)
    layers_.push_back(std::make_unique<Registry::Attached>(Registry::Attached{std::move(layer), std::move(filter)}));
  return *this;
}

RegistryBuilder& RegistryBuilder::with_filter(std::unique_ptr<Filter> filter) & {
  if (filter != nullptr) filters_.push_back(std::move(filter));
  return *this;
}

// These return a new builder rather than a reference, since with a reference `builder = std::move(builder).with(layer)`
// would move the builder to itself, which empties it.
RegistryBuilder RegistryBuilder::with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter) && {
  return std::move(with(std::move(layer), std::move(filter)));
}

RegistryBuilder RegistryBuilder::with_filter(std::unique_ptr<Filter> filter) && {
  return std::move(with_filter(std::move(filter)));
}

namespace {

constinit support::NeverDestroyed<Registry::RetiredRegistries> retired_registries;

void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { retired_registries->mutex.lock(); }
void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { retired_registries->mutex.unlock(); }

[[gnu::constructor]] void register_fork_handler_of_registries() noexcept {
  support::set_fork_handler(support::ForkStage::registries, {lock_for_fork, unlock_after_fork, unlock_after_fork});
}

}  // namespace

void Registry::RetiredRegistries::retire(Registry* registry) noexcept {
  registry->retired_.store(true, std::memory_order_release);
  registry->store_->close_open_spans_slowly();
  registry->flush();
  try {
    support::MutexLock const lock(retired_registries->mutex);
    retired_registries->waiting.emplace_back(registry);
  } catch (...) {  // out of memory: the registry is never destroyed
  }
  reap();
  internal::forget_dead_subscribers();
}

void Registry::RetiredRegistries::reap() noexcept {
  std::unique_ptr<Registry> done;
  do {
    done.reset();
    support::MutexLock const lock(retired_registries->mutex);
    auto const found = std::find_if(retired_registries->waiting.begin(), retired_registries->waiting.end(),
                                    [](auto const& retired) { return !retired->has_open_spans(); });
    if (found == retired_registries->waiting.end()) return;
    done = std::move(*found);
    retired_registries->waiting.erase(found);
  } while (true);
}

std::shared_ptr<Registry> RegistryBuilder::build() && {
  layers_.push_back(std::make_unique<Registry::Attached>(
      Registry::Attached{std::make_unique<internal::SpareLayer>(), std::make_unique<internal::SpareFilter>()}));
  return std::shared_ptr<Registry>(new Registry(std::move(layers_), std::move(filters_)),
                                   Registry::RetiredRegistries::retire);
}

}}  // namespace tracing::v1
