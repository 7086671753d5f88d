// Declares filters and layers that can be exchanged while the program runs, and the handles that do it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"

namespace tracing::inline v1 {

/// What became of a reload().
enum class Reloaded : std::uint8_t {
  done,
  gone,           ///< nothing happened: the filter or layer was destroyed with its registry
  in_subscriber,  ///< nothing happened: called by a layer, filter or formatter while it handles a record
};

namespace internal {

// One filter or layer that is, or was, the current one. Held by being current and by the open spans that a filter follows.
template <class T>
struct Exchangeable {
  std::unique_ptr<T> object;
  std::atomic<std::uint64_t> holders{1};

  explicit Exchangeable(std::unique_ptr<T> what) noexcept : object(std::move(what)) {}
  void hold() noexcept { holders.fetch_add(1, std::memory_order_relaxed); }
  void let_go() noexcept {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// A place of which many threads use what it points to, without lock or read-modify-write, while another one exchanges it.
template <class T>
struct ExchangePlace {
  std::atomic<void*> current{nullptr};
  std::mutex mutex;  // one exchange at a time

  explicit ExchangePlace(std::unique_ptr<T> first) : current(new Exchangeable<T>(std::move(first))) {}
  ~ExchangePlace() { static_cast<Exchangeable<T>*>(current.load(std::memory_order_acquire))->let_go(); }
};

// Marks what the place points to as used by this thread, until the end of its scope.
class InUse {
 public:
  explicit InUse(std::atomic<void*> const& place) noexcept;
  InUse(InUse const&) = delete;
  InUse& operator=(InUse const&) = delete;
  ~InUse();
  // Null where a thread uses too many things within each other.
  void* get() const noexcept { return used_; }

 private:
  void* used_ = nullptr;
  std::atomic<void*>* mark_ = nullptr;
};

// Waits until no thread uses `old` any more; false where one still does after a second.
bool wait_until_unused(void const* old) noexcept;
bool called_by_subscriber() noexcept;
void count_leaked() noexcept;

std::unique_ptr<Filter> make_reloadable(std::shared_ptr<ExchangePlace<Filter>> place);
std::unique_ptr<Layer> make_reloadable(std::shared_ptr<ExchangePlace<Layer>> place);

inline void before_it_goes(Filter&) noexcept {}
inline void before_it_goes(Layer& layer) noexcept { layer.flush(); }

}  // namespace internal

/// Exchanges a filter or a layer: see reloadable(). Copies are handles of the same one. Thread-safe.
template <class T>
class ReloadHandle {
 public:
  explicit ReloadHandle(std::shared_ptr<internal::ExchangePlace<T>> const& place) noexcept : place_(place) {}

  /// Puts `next` in place of the current one and asks all callsites anew. Null: a filter that lets everything pass, a layer
  /// that does nothing. The old one is destroyed before this returns, unless spans that it follows are open, which it then
  /// outlives, or a call to it lasts longer than a second, which is counted: see reloads_leaked(). Not for use inside a
  /// layer, filter or formatter.
  Reloaded reload(std::unique_ptr<T> next) {
    return modify([&next](T const*) { return std::move(next); });
  }

  /// As reload() with what `make(T const* current)` returns: a std::unique_ptr of the next one. No other thread exchanges it
  /// in between.
  template <class F>
  Reloaded modify(F&& make);

 private:
  std::weak_ptr<internal::ExchangePlace<T>> place_;
};

/// A filter in whose place another one can be put later, and the handle to do it. While it stands for the first one, a
/// record costs a few loads and stores more. Spans that are open at an exchange stay with the filter that saw them made.
inline std::pair<std::unique_ptr<Filter>, ReloadHandle<Filter>> reloadable(std::unique_ptr<Filter> filter) {
  auto const place = std::make_shared<internal::ExchangePlace<Filter>>(std::move(filter));
  return {internal::make_reloadable(place), ReloadHandle<Filter>(place)};
}
/// The same of a layer. The next one is told of spans that it did not see made.
inline std::pair<std::unique_ptr<Layer>, ReloadHandle<Layer>> reloadable(std::unique_ptr<Layer> layer) {
  auto const place = std::make_shared<internal::ExchangePlace<Layer>>(std::move(layer));
  return {internal::make_reloadable(place), ReloadHandle<Layer>(place)};
}

/// How many filters and layers were never destroyed because a call to them did not end.
std::uint64_t reloads_leaked() noexcept;

template <class T>
template <class F>
Reloaded ReloadHandle<T>::modify(F&& make) {
  if (internal::called_by_subscriber()) return Reloaded::in_subscriber;
  auto const place = place_.lock();
  if (place == nullptr) return Reloaded::gone;
  {
    std::lock_guard const lock(place->mutex);
    auto* const old = static_cast<internal::Exchangeable<T>*>(place->current.load(std::memory_order_acquire));
    auto next = std::make_unique<internal::Exchangeable<T>>(make(static_cast<T const*>(old->object.get())));
    place->current.store(next.release(), std::memory_order_release);
    if (internal::wait_until_unused(old)) {
      if (old->object != nullptr) internal::before_it_goes(*old->object);
      old->let_go();
    } else {
      internal::count_leaked();
    }
  }
  rebuild_interest();
  return Reloaded::done;
}

}  // namespace tracing::inline v1
