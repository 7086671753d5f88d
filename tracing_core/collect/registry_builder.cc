// How a registry is built, and when it is destroyed.
#include <algorithm>

#include "tracing_core/collect/registry_parts.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1 {

Registry::Registry(Layers layers, Filters filters)
    : layers_(std::move(layers)),
      filters_(std::move(filters)),
      masks_(compute_masks(layers_, filters_)),
      store_(std::make_unique<SpanStore>(*this)) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layer_pointers_[i] = layers_[i]->layer.get();
    layer_filters_[i] = layers_[i]->filter.get();
  }
}

Registry::~Registry() = default;

RegistryBuilder::RegistryBuilder() = default;
RegistryBuilder::RegistryBuilder(RegistryBuilder&&) noexcept = default;
RegistryBuilder& RegistryBuilder::operator=(RegistryBuilder&&) noexcept = default;
RegistryBuilder::~RegistryBuilder() = default;

RegistryBuilder&& RegistryBuilder::with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter) && {
  if (layer != nullptr && layers_.size() < kMaxLayers)
    layers_.push_back(std::make_unique<Registry::Attached>(Registry::Attached{std::move(layer), std::move(filter)}));
  return std::move(*this);
}

RegistryBuilder&& RegistryBuilder::with_filter(std::unique_ptr<Filter> filter) && {
  if (filter != nullptr) filters_.push_back(std::move(filter));
  return std::move(*this);
}

namespace {

constinit internal::NeverDestroyed<Registry::RetiredRegistries> retired_registries;

void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { retired_registries->mutex.lock(); }
void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { retired_registries->mutex.unlock(); }

[[gnu::constructor]] void register_fork_handler() noexcept {
  internal::set_fork_handler(internal::ForkStage::registries, {lock_for_fork, unlock_after_fork, unlock_after_fork});
}

}  // namespace

void Registry::RetiredRegistries::retire(Registry* registry) noexcept {
  registry->retired_.store(true, std::memory_order_release);
  registry->store_->close_open_spans_slowly();
  registry->flush();
  try {
    internal::MutexLock const lock(retired_registries->mutex);
    retired_registries->waiting.emplace_back(registry);
  } catch (...) {  // out of memory: it is never destroyed
  }
  reap();
  internal::forget_dead_subscribers();
}

void Registry::RetiredRegistries::reap() noexcept {
  std::unique_ptr<Registry> done;
  do {
    done.reset();
    internal::MutexLock const lock(retired_registries->mutex);
    auto const found = std::find_if(retired_registries->waiting.begin(), retired_registries->waiting.end(),
                                    [](auto const& retired) { return !retired->has_open_spans(); });
    if (found == retired_registries->waiting.end()) return;
    done = std::move(*found);
    retired_registries->waiting.erase(found);
  } while (true);
}

std::shared_ptr<Registry> RegistryBuilder::build() && {
  return std::shared_ptr<Registry>(new Registry(std::move(layers_), std::move(filters_)),
                                   Registry::RetiredRegistries::retire);
}

}  // namespace tracing::inline v1
