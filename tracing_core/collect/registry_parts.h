// Declares what the files of Registry share: its layers, sets of them, and how its slots hang together.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/span_store.h"

namespace tracing::inline v1 {

// Registries that nobody holds while spans of theirs are open.
struct Registry::Graveyard {
  std::mutex mutex;
  std::vector<std::unique_ptr<Registry>> waiting;

  static void retire(Registry* registry) noexcept;
  // Destroys those whose last span is closed.
  static void bury() noexcept;
};

struct Registry::Attached {
  std::unique_ptr<Layer> layer;
  std::unique_ptr<Filter> filter;
};

namespace internal {

inline constexpr Verdict kRegistryItself = Verdict{1} << 31;  // a registry without layers wants its spans all the same
inline constexpr Verdict kAskGlobal = Verdict{1} << 30;       // undecided: the filters of the whole registry

// The first layer in `set`, which is not empty. (std::countr_zero asks whether it is.)
inline std::size_t lowest(Verdict set) noexcept { return static_cast<std::size_t>(__builtin_ctz(set)); }

// Calls `f(index)` for each layer in `set`, in the order in which they were added.
template <class F>
inline void for_each_layer(Verdict set, F&& f) noexcept {
  for (; set != 0; set &= set - 1) f(lowest(set));
}

constexpr Verdict bit(std::size_t index) noexcept { return Verdict{1} << index; }

inline SpanSlot* parent_of(SpanSlot const& slot) noexcept {
  SpanSlot* const parent = slot.parent;
  if (parent == nullptr || parent->id.load(std::memory_order_relaxed) != slot.parent_id) return nullptr;
  return parent;
}

// From now on the span and its parents may be held by anybody: each takes a reference to its parent.
inline void share(SpanSlot* slot) noexcept {
  while (slot != nullptr && !slot->shared.load(std::memory_order_relaxed)) {
    slot->shared.store(true, std::memory_order_relaxed);
    slot->special.store(true, std::memory_order_relaxed);
    slot->parent = parent_of(*slot);
    if (slot->parent != nullptr) slot->parent->references.fetch_add(1, std::memory_order_relaxed);
    slot = slot->parent;
  }
}

// There is something to clear when it closes.
inline void has_extras(SpanSlot& slot) noexcept {
  if (slot.has_extras.load(std::memory_order_relaxed)) return;
  slot.has_extras.store(true, std::memory_order_relaxed);
  slot.special.store(true, std::memory_order_relaxed);
}

}  // namespace internal
}  // namespace tracing::inline v1
