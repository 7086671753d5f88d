// Registry: the subscriber that stores open spans and calls layers.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"

namespace tracing { inline namespace v1 {

class SpanStore;

namespace internal {

class SpareFilter;
class SpareLayer;
enum class LeftSpan : std::uint8_t;

// Says which layers are called for which record, one bit per layer. Computed once, by compute_masks() in
// registry_builder.cc. Only these masks decide what a registry does with a record.
struct RegistryMasks {
  static constexpr LayerMask kAll = ~LayerMask{0};

  // Layers that want the call: see Layer::hooks().
  LayerMask on_new_span = 0, on_record = 0, on_follows_from = 0, on_event = 0;
  LayerMask on_enter = 0, on_exit = 0, on_close = 0, on_timed = 0;
  LayerMask scopes = 0;      // layers that get the beginning and the end of a scope in place of four calls
  LayerMask direct = 0;      // the layer that takes records directly, see Hooks::direct
  LayerMask all_values = 0;  // see Hooks::all_values

  LayerMask unfiltered = 0;       // layers without a filter, and the registry itself if it has no layer
  LayerMask by_thread_level = 0;  // layers whose filter decides by the thread level check
  LayerMask span_filters = 0;     // layers whose filter follows spans
  LayerMask event_filters = 0;    // layers whose filter decides about the values of events
  LayerMask perf_filters = 0;     // layers whose filter decides about perf spans
  LayerMask perf_for_all = 0;     // layers whose filter decides about perf spans for all layers

  // The layers that must be called for an event or for the creation of a scope, and the layers that must be called, or
  // whose filter must be called, for anything that happens to a scope. kAll if a filter of the entire registry must be
  // called, too. A record for which these masks have no layer takes the fast path.
  LayerMask event = 0;
  LayerMask creation = 0;
  LayerMask scope = 0;
  LayerMask begin() const noexcept { return scopes | on_enter | creation; }
  LayerMask end() const noexcept { return on_exit | on_close; }  // filter states need no bit: they force the slow path
};

}  // namespace internal

/// The subscriber that stores open spans, tracks which spans each thread is in, and calls each layer for the records
/// that its filter lets pass. Made by a RegistryBuilder. Thread-safe. A span that stays on its thread costs no lock, no
/// allocation and no atomic read-modify-write; its memory is reused after it is closed.
class Registry final : public Subscriber, public std::enable_shared_from_this<Registry> {
 public:
  struct RetiredRegistries;  // private to registry_builder.cc

  ~Registry() override;

  void prepare_interest() noexcept override;
  Registration register_callsite(Metadata const& metadata) noexcept override;
  LevelFilter max_level_hint() const noexcept override;
  LayerMask enabled(Metadata const& metadata) noexcept override;
  LayerMask enabled_now(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept override;
  SpanId new_span(NewSpan const& span) noexcept override;
  void record(SpanId span, FieldValues const& values) noexcept override;
  void follows_from(SpanId span, SpanId cause) noexcept override;
  void event(Event const& event) noexcept override;
  void enter(SpanId span, Origin const& origin) noexcept override;
  void exit(SpanId span, Origin const& origin) noexcept override;
  void add_reference(SpanId span) noexcept override;
  void drop_reference(SpanId span, Origin const& origin) noexcept override;
  SpanId current_span() const noexcept override;
  Metadata const* metadata(SpanId span) const noexcept override;
  OpenSpan open_scope(Metadata const& metadata, LayerMask mask, Value const* values) noexcept override;
  void close_scope(SpanId span) noexcept override;
  void close_timed_scope(SpanId span, Timing const& timing) noexcept override;
  void event_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept override;
  void count_dropped(LayerMask mask) noexcept override;
  bool has_open_spans() const noexcept override;
  Registry* as_registry() noexcept override { return this; }

  /// Returns the calling thread's own track; null if memory ran out.
  Track const* own_track() const noexcept;
  internal::TrackState const* own_track_state() const noexcept;
  /// Calls flush() of every layer.
  void flush() noexcept;

  /// Adds a layer until detach(), such as the layer of a profile. The layer gets what `filter` lets pass; after
  /// detach(), it still gets everything that happens to spans that began while it was attached. Layer and filter are
  /// kept until the registry ends, since a thread may be calling them. A registry starts with nothing attached, which
  /// costs nothing. Does nothing and returns false if a filter is already attached, or if a layer, filter or formatter
  /// makes this call.
  ///
  /// REQUIRES: the layer wants Hooks::scopes, and each call passes the same layer. The filter answers only `always` or
  /// `never`, from the metadata alone; it decides about perf spans and annotations, too.
  bool attach(std::shared_ptr<Layer> layer, std::unique_ptr<Filter> filter);
  void detach() noexcept;
  /// Returns the open span with this id; empty if it is closed.
  SpanRef span(SpanId id) const noexcept;
  /// Calls `visit(context, span)` for each span that the calling thread is in, innermost first.
  void visit_current_spans(void (*visit)(void* context, SpanRef span), void* context) const noexcept;
  /// Calls `visit` for each track and each span that it is in, outermost first, to inspect a process that crashes or
  /// hangs. Takes no lock and allocates nothing. Other threads keep running, so a span may be closing while it is
  /// visited: its values may then be inconsistent, but are always read from a span's memory.
  void visit_all_tracks(void (*visit)(void* context, Track const& track, std::int64_t os_thread, SpanRef span),
                        void* context) const noexcept;

 private:
  friend class RegistryBuilder;
  friend class Context;
  static constexpr std::size_t kMaxLayers = 30;  // includes the layer that attach() adds
  struct Attached;                               // a layer with its filter
  using Layers = std::vector<std::unique_ptr<Attached>>;
  using Filters = std::vector<std::unique_ptr<Filter>>;

  Registry(Layers layers, Filters filters);
  static internal::RegistryMasks compute_masks(Layers const& layers, Filters const& filters) noexcept;

  // Spans.
  internal::SpanSlot* make(NewSpan const& span, internal::TrackState& own, internal::TrackState& track) noexcept;
  [[gnu::noinline]] OpenSpan open_scope_slow(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
  [[gnu::noinline]] OpenSpan open_scope_direct(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
  bool is_direct(LayerMask layers) const noexcept { return layers == masks_.direct && layers != 0; }
  // True if the filter of one of these layers follows spans that begin now.
  bool is_followed(LayerMask layers) const noexcept {
    return (following_.load(std::memory_order_relaxed) & layers) != 0;
  }
  [[gnu::noinline]] void close_scope_direct(SpanId id) noexcept;
  [[gnu::noinline]] void close_scope_slow(SpanId id) noexcept;
  bool close_scope_notifying(SpanId id, internal::TrackState& track) noexcept;
  void start_filter_states(internal::SpanSlot& slot, NewSpan const& span) noexcept;
  template <auto kHook, class... A>
  void notify(LayerMask layers, internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin,
              A const&... arguments) noexcept;
  template <auto kHook, class... A>
  void call(LayerMask layers, internal::SpanSlot& slot, Context& context, A const&... arguments) noexcept;
  template <auto kHook>
  void notify_step(Layer::Step step, LayerMask layers, internal::SpanSlot& slot, internal::TrackState& track,
                   Origin const& origin) noexcept;
  template <class F>
  void for_each_filter_state(internal::SpanSlot& slot, F&& f) noexcept;
  bool needs_release(internal::SpanSlot const& slot) const noexcept;
  using Left = internal::LeftSpan;
  bool push(internal::SpanSlot& slot, internal::TrackState& track, bool may_be_in_it, bool holds) noexcept;
  Left pop(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin, bool scope) noexcept;
  void let_go(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void release(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  // Returns the parent to which the span held a reference, or null.
  internal::SpanSlot* close(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void clear_extras(internal::SpanSlot& slot) noexcept;

  // Events.
  [[gnu::noinline]] LayerMask query_event_filters(Event const& event, LayerMask layers) noexcept;
  void dispatch(Event const& event, internal::TrackState& track) noexcept;
  bool event_direct(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
  [[gnu::noinline]] void dispatch_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;

  // Callsites.
  Registration register_perf(Metadata const& metadata) noexcept;
  Registration register_annotation(Metadata const& metadata) noexcept;
  [[gnu::noinline]] LayerMask query_filters(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept;
  LayerMask query_perf_filters(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept;
  template <class F>
  void for_each_perf_filter(Metadata const& metadata, F&& f) noexcept;

  Layers layers_;
  Filters filters_;                    // filters of the entire registry
  internal::SpareLayer& spare_layer_;  // the last layer of layers_; the next member is its filter
  internal::SpareFilter& spare_filter_;
  internal::RegistryMasks const masks_;
  std::unique_ptr<SpanStore> store_;
  // Copies of the pointers in layers_, each reached by a single load.
  std::array<Layer*, kMaxLayers> layer_pointers_{};
  std::array<Filter*, kMaxLayers> layer_filters_{};
  Layer* direct_layer_ = nullptr;     // masks_.direct
  std::atomic<LayerMask> following_;  // layers whose filter follows new spans
  std::atomic<bool> retired_{false};  // its owner is gone; it is destroyed with its last span
};

/// Builds a registry: auto registry = RegistryBuilder().with(print_layer).with(other_layer, filter).build(); Or, if
/// layers are optional: RegistryBuilder builder; if (c) builder.with(layer); std::move(builder).build();
class RegistryBuilder {
 public:
  static constexpr std::size_t kMaxLayers = Registry::kMaxLayers - 1;

  RegistryBuilder();
  RegistryBuilder(RegistryBuilder&&) noexcept;
  RegistryBuilder& operator=(RegistryBuilder&&) noexcept;
  ~RegistryBuilder();

  /// Adds a layer that sees what `filter` lets pass, or everything if `filter` is null. Ignores a null layer, so that a
  /// layer can be optional, and ignores layers after the first kMaxLayers.
  RegistryBuilder& with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter = nullptr) &;
  [[nodiscard]] RegistryBuilder with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter = nullptr) &&;
  /// Adds a filter for the entire registry: no layer sees the records that it rejects.
  RegistryBuilder& with_filter(std::unique_ptr<Filter> filter) &;
  [[nodiscard]] RegistryBuilder with_filter(std::unique_ptr<Filter> filter) &&;

  /// Returns the registry. It is destroyed when it has neither an owner nor an open span.
  std::shared_ptr<Registry> build() &&;

 private:
  std::vector<std::unique_ptr<Registry::Attached>> layers_;
  std::vector<std::unique_ptr<Filter>> filters_;
};

}}  // namespace tracing::v1
