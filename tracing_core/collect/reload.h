// reloadable(): filters and layers that can be replaced while the program runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {

/// The result of a reload().
enum class Reloaded : std::uint8_t {
  done,
  gone,           ///< did nothing: the filter or layer was destroyed with its registry
  in_subscriber,  ///< did nothing: called by a layer, filter or formatter while it handles a record
};

namespace internal {

// A filter or layer that can be replaced. Replaced filters and layers are kept: a thread may still be calling one, and
// open spans stay with the filter under which they were created.
template <class T>
struct ReloadSlot {
  std::atomic<T*> current{nullptr};
  Mutex mutex;  // serializes reloads
  std::vector<std::unique_ptr<T>> all TRACING_GUARDED_BY(mutex);

  void set(std::unique_ptr<T> next) TRACING_REQUIRES(mutex) {
    all.push_back(std::move(next));
    current.store(all.back().get(), std::memory_order_release);
  }
};

bool called_by_subscriber() noexcept;
// Replaces null by a filter that lets everything pass, or a layer that does nothing.
std::unique_ptr<Filter> make_reload_target(std::unique_ptr<Filter> filter);
std::unique_ptr<Layer> make_reload_target(std::unique_ptr<Layer> layer);
std::unique_ptr<Filter> make_reloadable(std::shared_ptr<ReloadSlot<Filter>> slot);
std::unique_ptr<Layer> make_reloadable(std::shared_ptr<ReloadSlot<Layer>> slot);

// Returns the object that was passed to reloadable() or reload().
Filter const* without_wrapper(Filter const& target) noexcept;
Layer const* without_wrapper(Layer const& target) noexcept;

inline void flush_replaced(Filter&) noexcept {}
inline void flush_replaced(Layer& layer) noexcept { layer.flush(); }

}  // namespace internal

/// Replaces a filter or a layer: see reloadable(). Copies refer to one filter or layer. Thread-safe.
template <class T>
class ReloadHandle {
 public:
  explicit ReloadHandle(std::shared_ptr<internal::ReloadSlot<T>> const& slot) noexcept : slot_(slot) {}

  /// Replaces the current filter or layer by `next` and queries all callsites again. Null means a filter that lets
  /// everything pass, or a layer that does nothing. The replaced filter or layer is kept until its registry ends. A
  /// replaced layer is flushed. Does nothing if called by a layer, filter or formatter.
  Reloaded reload(std::unique_ptr<T> next) {
    return modify([&next](T const*) { return std::move(next); });
  }

  /// Does what reload() does with the result of `make(T const* current)`, a std::unique_ptr<T>. No other thread
  /// replaces the current filter or layer meanwhile. `current` is null for a layer that does nothing.
  template <class F>
  Reloaded modify(F&& make);

 private:
  std::weak_ptr<internal::ReloadSlot<T>> slot_;
};

namespace internal {

template <class T>
std::pair<std::unique_ptr<T>, ReloadHandle<T>> reloadable(std::unique_ptr<T> first) {
  auto const slot = std::make_shared<ReloadSlot<T>>();
  {
    MutexLock const lock(slot->mutex);
    slot->set(make_reload_target(std::move(first)));
  }
  return {make_reloadable(slot), ReloadHandle<T>(slot)};
}

}  // namespace internal

/// Makes a filter that can be replaced later, and the handle that replaces it. Costs one more indirect call for each
/// query. Open spans stay with the filter under which they were created.
inline std::pair<std::unique_ptr<Filter>, ReloadHandle<Filter>> reloadable(std::unique_ptr<Filter> filter) {
  return internal::reloadable(std::move(filter));
}
/// Makes a layer that can be replaced later, and the handle that replaces it. A new layer also gets calls for spans
/// that were created before.
inline std::pair<std::unique_ptr<Layer>, ReloadHandle<Layer>> reloadable(std::unique_ptr<Layer> layer) {
  return internal::reloadable(std::move(layer));
}

template <class T>
template <class F>
Reloaded ReloadHandle<T>::modify(F&& make) {
  if (internal::called_by_subscriber()) return Reloaded::in_subscriber;
  auto const slot = slot_.lock();
  if (slot == nullptr) return Reloaded::gone;
  {
    support::MutexLock const lock(slot->mutex);
    T& replaced = *slot->current.load(std::memory_order_relaxed);
    slot->set(internal::make_reload_target(make(internal::without_wrapper(replaced))));
    internal::flush_replaced(replaced);
  }
  rebuild_interest();
  return Reloaded::done;
}

}}  // namespace tracing::v1
