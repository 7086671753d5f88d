// The parts that the files of Registry share: its layers, sets of layers, and references between slots.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/span_store.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {

// The registries that have no owner but open spans.
struct Registry::RetiredRegistries {
  support::Mutex mutex;
  std::vector<std::unique_ptr<Registry>> waiting TRACING_GUARDED_BY(mutex);

  static void retire(Registry* registry) noexcept;
  // Destroys the registries whose last span is closed.
  static void reap() noexcept;
};

struct Registry::Attached {
  std::unique_ptr<Layer> layer;
  std::unique_ptr<Filter> filter;
};

namespace internal {

inline constexpr LayerMask kRegistryItself = LayerMask{1} << 31;   // a registry without layers still wants its spans
inline constexpr LayerMask kGlobalUndecided = LayerMask{1} << 30;  // the filters of the entire registry are undecided

// Returns the first layer in `set`. REQUIRES: set != 0. (std::countr_zero would check this.)
inline std::size_t lowest(LayerMask set) noexcept { return static_cast<std::size_t>(__builtin_ctz(set)); }

// Calls `f(index)` for each layer in `set`, in the order in which they were added.
template <class F>
inline void for_each_layer(LayerMask set, F&& f) noexcept {
  for (; set != 0; set &= set - 1) f(lowest(set));
}

constexpr LayerMask bit(std::size_t index) noexcept { return LayerMask{1} << index; }

// Must be called before the first handle to the span is made: from then on any thread may hold the span and its
// parents, so each of them takes a reference to its parent.
inline void share(SpanSlot* slot) noexcept {
  while (slot != nullptr && !slot->shared.load(std::memory_order_relaxed)) {
    slot->shared.store(true, std::memory_order_relaxed);
    slot->special.store(true, std::memory_order_relaxed);
    slot->parent = slot->open_parent();
    if (slot->parent != nullptr) slot->parent->references.add();
    slot = slot->parent;
  }
}

}  // namespace internal
}}  // namespace tracing::v1
