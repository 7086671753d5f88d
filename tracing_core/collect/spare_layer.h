// SpareLayer and SpareFilter: the last layer of every registry and its filter. Registry::attach() uses them for a layer
// that is added for some time.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/collect/forwarding_layer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

// Lets nothing pass while no filter is attached: then no record has the layer's bit, and the layer is not called.
class SpareFilter final : public Filter {
 public:
  // Returns false if a filter is already attached.
  bool attach(std::unique_ptr<Filter> filter) {
    MutexLock const lock(mutex_);
    if (current_.load(std::memory_order_relaxed) != nullptr) return false;
    kept_.push_back(std::move(filter));
    current_.store(kept_.back().get(), std::memory_order_release);
    return true;
  }
  void detach() noexcept { current_.store(nullptr, std::memory_order_release); }

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    Filter* const filter = current();
    return filter == nullptr ? Interest::never : filter->callsite_enabled(metadata);
  }
  bool enabled(Metadata const& metadata) noexcept override {
    Filter* const filter = current();
    return filter != nullptr && filter->enabled(metadata);
  }
  LevelFilter max_level_hint() const noexcept override {
    Filter const* const filter = current();
    return filter == nullptr ? LevelFilter::off : filter->max_level_hint();
  }
  PerfRole perf_role() const noexcept override { return PerfRole::layer; }

 private:
  Filter* current() const noexcept { return current_.load(std::memory_order_acquire); }

  std::atomic<Filter*> current_{nullptr};
  Mutex mutex_;
  std::vector<std::unique_ptr<Filter>> kept_ TRACING_GUARDED_BY(mutex_);
};

// Passes everything on to the layer that was set. A span keeps the bit of this place until it is closed, so the layer
// gets the span's end even after detach().
class SpareLayer final : public RoutingLayer<SpareLayer> {
 public:
  void set(std::shared_ptr<Layer> layer) {
    MutexLock const lock(mutex_);
    if (current_.load(std::memory_order_relaxed) == layer.get()) return;
    kept_.push_back(std::move(layer));
    current_.store(kept_.back().get(), std::memory_order_release);
  }

  Hooks hooks() const noexcept override { return Hooks::all | Hooks::scopes; }
  void on_dropped() noexcept override { current().on_dropped(); }
  void flush() noexcept override { current().flush(); }

  Layer* layer_for(SpanRef, bool) const noexcept { return &current(); }
  Layer* layer_for(Event const&, Context const&) const noexcept { return &current(); }

 private:
  Layer& current() const noexcept { return *current_.load(std::memory_order_acquire); }

  Layer none_;
  std::atomic<Layer*> current_{&none_};
  Mutex mutex_;
  std::vector<std::shared_ptr<Layer>> kept_ TRACING_GUARDED_BY(mutex_);
};

}}}  // namespace tracing::v1::internal
