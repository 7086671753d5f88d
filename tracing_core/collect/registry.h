// Declares Registry, the subscriber that stores open spans and calls layers.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"

namespace tracing::inline v1 {

class SpanStore;

/// The subscriber that stores open spans, knows which ones each thread is in, and calls layers, each with the records that
/// its filter lets pass. Made by a RegistryBuilder. Thread-safe. No lock, no allocation and no atomic read-modify-write
/// while a span stays on its thread; a span's memory is used again once it is closed.
class Registry final : public Subscriber {
 public:
  struct Graveyard;  // for itself

  ~Registry() override;

  Registration register_callsite(Metadata const& metadata) noexcept override;
  LevelFilter max_level_hint() const noexcept override;
  Verdict enabled(Metadata const& metadata) noexcept override;
  Verdict enabled_now(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept override;
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
  OpenSpan open_scope(Metadata const& metadata, Verdict verdict, Value const* values) noexcept override;
  void close_scope(SpanId span) noexcept override;
  void close_timed_scope(SpanId span, Timing const& timing) noexcept override;
  void event_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept override;
  bool has_open_spans() const noexcept override;

  /// Calls flush() of every layer.
  void flush() noexcept;
  /// An open span by its id; empty where it is closed.
  SpanRef span(SpanId id) const noexcept;
  /// The spans that the calling thread is in, innermost first: calls `visit(context, span)` for each.
  void visit_current_spans(void (*visit)(void* context, SpanRef span), void* context) const noexcept;
  /// What every track is in, for those who look at a dying or hanging process: calls `visit` for each track and each span
  /// that it is in, outermost first; takes no lock and allocates nothing. Other threads go on meanwhile, so a span may be
  /// closing while it is looked at: what is read of it may be half new, but it is memory of a span.
  void visit_all_tracks(void (*visit)(void* context, Track const& track, std::int64_t os_thread, SpanRef span),
                        void* context) const noexcept;

 private:
  friend class RegistryBuilder;
  friend class Context;
  static constexpr std::size_t kMostLayers = 30;
  struct Attached;  // a layer with its filter

  explicit Registry(std::vector<std::unique_ptr<Attached>> layers, std::vector<std::unique_ptr<Filter>> filters);

  internal::SpanSlot* make(NewSpan const& span, internal::TrackState& own, internal::TrackState& track) noexcept;
  [[gnu::noinline]] OpenSpan open_scope_slowly(Metadata const& metadata, Verdict verdict, Value const* values) noexcept;
  [[gnu::noinline]] void close_scope_slowly(SpanId id) noexcept;
  void announce(internal::SpanSlot& slot, NewSpan const& span, internal::TrackState& track) noexcept;
  template <class F>
  void for_each_filter_state(internal::SpanSlot& slot, F&& f) noexcept;
  bool close_told_scope(SpanId id, internal::TrackState& track) noexcept;
  bool has_to_be_released(internal::SpanSlot const& slot) const noexcept;
  template <auto kHook>
  void tell_of(Verdict listeners, internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void push(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void pop(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void release(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  // Returns the parent to which it held a reference; null where it had none.
  internal::SpanSlot* close(internal::SpanSlot& slot, internal::TrackState& track, Origin const& origin) noexcept;
  void clear_extras(internal::SpanSlot& slot) noexcept;
  Registration register_perf(Metadata const& metadata) noexcept;
  Verdict ask_perf_filters(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept;
  template <class F>
  void for_each_perf_filter(Metadata const& metadata, F&& f) noexcept;
  [[gnu::noinline]] Verdict ask_filters(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept;
  [[gnu::noinline]] Verdict ask_about(Event const& event, Verdict listeners) noexcept;
  void tell(Event const& event, internal::TrackState& track) noexcept;
  [[gnu::noinline]] void tell_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept;

  std::vector<std::unique_ptr<Attached>> layers_;
  std::vector<std::unique_ptr<Filter>> filters_;  // of the whole registry
  std::unique_ptr<SpanStore> store_;
  // layers_ once more, found with one load.
  std::array<Layer*, kMostLayers> layer_pointers_{};
  std::array<Filter*, kMostLayers> layer_filters_{};
  Verdict always_ = 0;      // layers without a filter, and the registry itself where it has no layer
  Verdict on_new_span_ = 0, on_record_ = 0, on_follows_from_ = 0, on_event_ = 0, on_enter_ = 0, on_exit_ = 0,
          on_close_ = 0, on_timed_ = 0;
  Verdict by_gate_ = 0;  // layers whose filter decides by the level gate
  Verdict span_filters_ = 0;   // layers whose filter follows spans
  Verdict event_filters_ = 0;  // layers whose filter looks at events
  Verdict perf_filters_ = 0;   // layers whose filter decides about perf spans
  Verdict perf_for_all_ = 0;   // and of these, those that decide for all layers
  bool global_span_filters_ = false;
  bool filters_hear_events_ = false;
  Verdict event_listeners_ = 0;  // the layers for which there is something to do; all where filters hear events
  Verdict making_listeners_ = 0;  // the layers to which it is told that a span is made, and those whose filters follow spans
  Verdict close_listeners_ = 0;  // the layers that a scope's end is told to
  Verdict scope_listeners_ = 0;  // and those that its beginning is, or whose filters are
  std::atomic<bool> retired_{false};  // nobody holds it: it goes with its last span
};

/// Puts a registry together: auto registry = RegistryBuilder().with(print_layer).with(other_layer, filter).build();
class RegistryBuilder {
 public:
  static constexpr std::size_t kMostLayers = Registry::kMostLayers;

  RegistryBuilder();
  RegistryBuilder(RegistryBuilder&&) noexcept;
  RegistryBuilder& operator=(RegistryBuilder&&) noexcept;
  ~RegistryBuilder();

  /// Adds a layer that sees what `filter` lets pass; everything where that is null. Null layers are left out, so that a
  /// layer can be optional. At most kMostLayers; more are left out.
  RegistryBuilder&& with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter = nullptr) &&;
  /// Adds a filter for the whole registry: what it rejects no layer sees.
  RegistryBuilder&& with_filter(std::unique_ptr<Filter> filter) &&;

  /// The registry. Kept until its last span is closed, even when nobody holds it any more.
  std::shared_ptr<Registry> build() &&;

 private:
  std::vector<std::unique_ptr<Registry::Attached>> layers_;
  std::vector<std::unique_ptr<Filter>> filters_;
};

}  // namespace tracing::inline v1
