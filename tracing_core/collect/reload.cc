#include "tracing_core/collect/reload.h"

#include <new>

#include "tracing_core/collect/forwarding_layer.h"
#include "tracing_core/collect/layer_vector.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/forwarding_filter.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// Points to the current filter or layer of a slot.
template <class T>
class Current {
 public:
  explicit Current(std::shared_ptr<ReloadSlot<T>> slot) noexcept : slot_(std::move(slot)) {}
  T* operator->() const noexcept { return slot_->current.load(std::memory_order_acquire); }
  T& operator*() const noexcept { return *operator->(); }

 private:
  std::shared_ptr<ReloadSlot<T>> slot_;
};

// A registry calls perf_role(), wants_events(), follows_spans() and decides_by_thread_level() only once. So perf_role()
// is the role of the first filter, and the other three give answers that are safe for every later filter.
class ReloadableFilter final : public BasicForwardingFilter<Current<Filter>> {
 public:
  explicit ReloadableFilter(std::shared_ptr<ReloadSlot<Filter>> slot)
      : BasicForwardingFilter(Current(std::move(slot))) {}

  bool event_enabled(Event const& event) noexcept override {
    Filter& filter = child();
    return !filter.wants_events() || filter.event_enabled(event);
  }
  bool wants_events() const noexcept override { return true; }
  bool decides_by_thread_level() noexcept override { return false; }
  bool follows_spans() const noexcept override { return true; }
  bool follows_new_spans() const noexcept override { return child().follows_new_spans(); }

  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override {
    Filter& filter = child();
    if (!filter.follows_spans()) return;
    std::uintptr_t own = 0;
    filter.on_new_span(span, own);
    if (own == 0) return;
    auto* const kept = new (std::nothrow) SpanState{filter, own};
    if (kept == nullptr) return filter.on_close(own);
    state = reinterpret_cast<std::uintptr_t>(kept);
  }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override {
    state_of(state).filter.on_record(values, state_of(state).own);
  }
  void on_enter(std::uintptr_t state) noexcept override { state_of(state).filter.on_enter(state_of(state).own); }
  void on_exit(std::uintptr_t state) noexcept override { state_of(state).filter.on_exit(state_of(state).own); }
  void on_close(std::uintptr_t state) noexcept override {
    std::unique_ptr<SpanState> const closing(&state_of(state));
    closing->filter.on_close(closing->own);
  }

 private:
  // The filter under which a span was created, and this filter's own state.
  struct SpanState {
    Filter& filter;
    std::uintptr_t own;
  };
  static SpanState& state_of(std::uintptr_t state) noexcept { return *reinterpret_cast<SpanState*>(state); }
};

// Forwards to the current LayerVector, which leaves out the calls that its layer does not want.
class ReloadableLayer final : public BasicForwardingLayer<Current<Layer>> {
 public:
  explicit ReloadableLayer(std::shared_ptr<ReloadSlot<Layer>> slot) : BasicForwardingLayer(Current(std::move(slot))) {}

  // Wants all calls, since later layers may want other calls than the first. Only the first decides whether all values
  // are kept.
  Hooks hooks() const noexcept override { return Hooks::all | (BasicForwardingLayer::hooks() & Hooks::all_values); }
};

}  // namespace

bool called_by_subscriber() noexcept { return thread_state.in_subscriber; }

std::unique_ptr<Filter> make_reload_target(std::unique_ptr<Filter> filter) { return to_filter(std::move(filter)); }
std::unique_ptr<Layer> make_reload_target(std::unique_ptr<Layer> layer) {
  std::vector<std::unique_ptr<Layer>> one;
  one.push_back(std::move(layer));
  return std::make_unique<LayerVector>(std::move(one));
}

Filter const* without_wrapper(Filter const& target) noexcept { return &target; }
Layer const* without_wrapper(Layer const& target) noexcept {
  auto const& layers = static_cast<LayerVector const&>(target).layers();
  return layers.empty() ? nullptr : layers.front().get();
}

std::unique_ptr<Filter> make_reloadable(std::shared_ptr<ReloadSlot<Filter>> slot) {
  return std::make_unique<ReloadableFilter>(std::move(slot));
}
std::unique_ptr<Layer> make_reloadable(std::shared_ptr<ReloadSlot<Layer>> slot) {
  return std::make_unique<ReloadableLayer>(std::move(slot));
}

}}}  // namespace tracing::v1::internal
