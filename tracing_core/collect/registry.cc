#include "tracing_core/collect/registry.h"

#include <mutex>

#include "tracing_core/collect/registry_parts.h"
#include "tracing_core/collect/span_store.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing::inline v1 {

using internal::bit;
using internal::for_each_layer;
using internal::has_extras;
using internal::parent_of;
using internal::share;
using internal::SpanSlot;
using internal::TrackState;

// ---- spans ----

// Objects print themselves here: what they emit is dropped.
[[gnu::noinline]] static void keep_payloads(SpanSlot& slot) noexcept {
  internal::InSubscriber const in_subscriber;
  slot.values.keep_payloads();
  if (slot.values.is_large()) slot.special.store(true, std::memory_order_relaxed);
}

// Everything but its place and its id.
static void fill(SpanSlot& slot, NewSpan const& span, SpanSlot* parent) noexcept {
  slot.metadata = &span.metadata();
  slot.verdict = span.verdict;
  slot.parent = parent;
  if (parent != nullptr) slot.parent_id = parent->id.load(std::memory_order_relaxed);
  if (slot.values.start(span.fields)) keep_payloads(slot);
}

SpanSlot* Registry::make(NewSpan const& span, TrackState& own, TrackState& track) noexcept {
  SpanSlot* const slot = store_->open(own);
  if (slot == nullptr) return nullptr;
  if (span.metadata().parts().owned) [[unlikely]] retain(span.metadata());
  SpanSlot* parent = nullptr;
  if (span.parent.kind == Parent::Kind::contextual) [[likely]] {
    parent = track.current(~Verdict{0});
  } else if (span.parent.kind == Parent::Kind::span) {
    parent = store_->find(span.parent.id);
  }
  fill(*slot, span, parent);
  share(slot);
  return slot;
}

namespace {

// The states of the filters that follow spans, in a place of the slot that is made at its first use.
std::uintptr_t* filter_states(SpanSlot& slot, std::size_t count) noexcept {
  if (slot.filter_states == nullptr) slot.filter_states.reset(new (std::nothrow) std::uintptr_t[count]());
  return slot.filter_states.get();
}

}  // namespace

void Registry::announce(SpanSlot& slot, NewSpan const& span, TrackState& track) noexcept {
  if (global_span_filters_ || (span_filters_ & slot.verdict) != 0) [[unlikely]] {
    if (std::uintptr_t* const states = filter_states(slot, filters_.size() + layers_.size())) {
      for (std::size_t i = 0; i < filters_.size(); ++i) {
        if (filters_[i]->follows_spans()) filters_[i]->on_new_span(span, states[i]);
      }
      for_each_layer(span_filters_ & slot.verdict,
                     [&](std::size_t i) { layer_filters_[i]->on_new_span(span, states[filters_.size() + i]); });
      has_extras(slot);
    }
  }
  Verdict const listeners = on_new_span_ & slot.verdict;
  if (listeners == 0) return;
  Context context(*this, track, span.origin, 0);
  for_each_layer(listeners, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_new_span(SpanRef(&slot, bit(i)), span, context);
  });
}

template <class F>
void Registry::for_each_filter_state(SpanSlot& slot, F&& f) noexcept {
  if (!slot.has_extras.load(std::memory_order_relaxed) || slot.filter_states == nullptr) [[likely]] return;
  for (std::size_t i = 0; i < filters_.size() + layers_.size(); ++i) {
    std::uintptr_t& state = slot.filter_states[i];
    if (state != 0) f(i < filters_.size() ? *filters_[i] : *layer_filters_[i - filters_.size()], state);
  }
}

SpanId Registry::new_span(NewSpan const& span) noexcept {
  TrackState* const own = store_->this_thread();
  TrackState* const track = store_->track_state(span.origin);
  if (own == nullptr || track == nullptr) return {};
  SpanSlot* const slot = make(span, *own, *track);
  if (slot == nullptr) return {};
  announce(*slot, span, *track);
  return slot->span_id();
}

// What layers are told of a span without any more words.
template <auto kHook>
void Registry::tell_of(Verdict listeners, SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  if (listeners == 0) [[likely]] return;
  Context context(*this, track, origin, 0);
  for_each_layer(listeners, [&](std::size_t i) {
    context.set_mask(bit(i));
    (layer_pointers_[i]->*kHook)(SpanRef(&slot, bit(i)), context);
  });
}

OpenSpan Registry::open_scope(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if ((scope_listeners_ & verdict) == 0) [[likely]] {
    SpanSlot const* const slot = store_->open_scope_quickly(metadata, verdict, values);
    if (slot != nullptr) [[likely]] return {this, slot->span_id()};
  }
  return open_scope_slowly(metadata, verdict, values);
}

OpenSpan Registry::open_scope_slowly(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if ((making_listeners_ & verdict) == 0) {  // that the thread enters it is told, not that it is made
    SpanSlot* const slot = store_->open_scope_quickly(metadata, verdict, values);
    if (slot != nullptr) [[likely]] {
      internal::InSubscriber const in_subscriber;
      if ((close_listeners_ & verdict) != 0) slot->special.store(true, std::memory_order_relaxed);
      tell_of<&Layer::on_enter>(on_enter_ & verdict, *slot, *store_->this_thread(), {});
      return {this, slot->span_id()};
    }
  }
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track == nullptr ? nullptr : store_->open_scope(*track);
  if (slot == nullptr) return {};
  NewSpan const span{FieldValues(metadata, values), {}, verdict, {}};
  fill(*slot, span, track->current(~Verdict{0}));
  internal::InSubscriber const in_subscriber;
  if ((close_listeners_ & verdict) != 0) slot->special.store(true, std::memory_order_relaxed);
  announce(*slot, span, *track);
  push(*slot, *track, {});
  return {this, slot->span_id()};
}

void Registry::close_scope(SpanId id) noexcept {
  if (!store_->close_scope_quickly(id)) [[unlikely]] close_scope_slowly(id);
}

void Registry::close_scope_slowly(SpanId id) noexcept {
  internal::InSubscriber const in_subscriber;
  TrackState* const track = store_->this_thread();
  if (track == nullptr || close_told_scope(id, *track)) return;
  SpanSlot* const slot = store_->find(id);
  if (slot == nullptr) return;
  pop(*slot, *track, {});
  release(*slot, *track, {});
}

// A scope that the thread is in innermost and of which nothing is left behind it, but its exit is told.
bool Registry::close_told_scope(SpanId id, TrackState& track) noexcept {
  SpanSlot* const slot = store_->innermost_scope(id, track);
  if (slot == nullptr || (on_close_ & slot->verdict) != 0 || has_to_be_released(*slot)) return false;
  track.leave();
  tell_of<&Layer::on_exit>(on_exit_ & slot->verdict, *slot, track, {});
  if (has_to_be_released(*slot)) [[unlikely]] {  // a layer holds it now, or keeps something with it
    release(*slot, track, {});
  } else {
    store_->close(*slot, track);
  }
  return true;
}

bool Registry::has_to_be_released(SpanSlot const& slot) const noexcept {
  return slot.shared.load(std::memory_order_relaxed) || slot.has_extras.load(std::memory_order_relaxed) ||
         slot.values.is_large() || retired_.load(std::memory_order_acquire);
}

void Registry::close_timed_scope(SpanId id, Timing const& timing) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track != nullptr ? store_->find(id, *track) : nullptr;
  Verdict const listeners = slot != nullptr ? on_timed_ & slot->verdict : 0;
  if (listeners != 0) {
    internal::InSubscriber const in_subscriber;
    Context context(*this, *track, Origin{}, 0);
    for_each_layer(listeners, [&](std::size_t i) {
      context.set_mask(bit(i));
      layer_pointers_[i]->on_timed(SpanRef(slot, bit(i)), timing, context);
    });
  }
  close_scope(id);
}

void Registry::push(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_enter(state); });
  bool const entered = track.push(slot);
  if (entered) tell_of<&Layer::on_enter>(on_enter_ & slot.verdict, slot, track, origin);
}

void Registry::pop(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_exit(state); });
  bool const left = track.pop(slot, share);
  if (left) tell_of<&Layer::on_exit>(on_exit_ & slot.verdict, slot, track, origin);
}

void Registry::enter(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  SpanSlot* const slot = store_->find(id);
  if (track != nullptr && slot != nullptr) push(*slot, *track, origin);
}

void Registry::exit(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  SpanSlot* const slot = store_->find(id);
  if (track == nullptr) return;
  if (slot != nullptr) {
    pop(*slot, *track, origin);
  } else {
    track->forget(id);
  }
}

void Registry::add_reference(SpanId id) noexcept {
  SpanSlot* const slot = store_->find(id);
  if (slot == nullptr) return;
  share(slot);
  slot->references.fetch_add(1, std::memory_order_relaxed);
}

void Registry::drop_reference(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  SpanSlot* const slot = store_->find(id);
  if (track != nullptr && slot != nullptr) release(*slot, *track, origin);
}

void Registry::release(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  // Where nobody holds the registry, it may be gone once the last slot is free: this is read before.
  bool const retired = retired_.load(std::memory_order_acquire);
  for (SpanSlot* next = &slot; next != nullptr;) {
    // Whoever has the only reference shares it with nobody.
    bool const last = next->references.load(std::memory_order_acquire) == 1 ||
                      next->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
    next = last ? close(*next, track, origin) : nullptr;
  }
  if (retired) [[unlikely]] Graveyard::bury();
}

SpanSlot* Registry::close(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  tell_of<&Layer::on_close>(on_close_ & slot.verdict, slot, track, origin);
  SpanSlot* const parent = slot.shared.load(std::memory_order_relaxed) ? slot.parent : nullptr;
  if (slot.has_extras.load(std::memory_order_relaxed)) clear_extras(slot);
  if (slot.values.is_large()) slot.values.clear();
  slot.references.store(1, std::memory_order_relaxed);
  slot.shared.store(false, std::memory_order_relaxed);
  Metadata const& metadata = *slot.metadata;
  TrackState* const own = origin.track == nullptr ? &track : store_->this_thread();
  if (own != nullptr) store_->close(slot, *own);
  if (metadata.parts().owned) [[unlikely]] tracing::release(metadata);
  return parent;
}

void Registry::clear_extras(SpanSlot& slot) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t& state) { filter.on_close(std::exchange(state, 0)); });
  slot.extensions.clear();
  for (CachedText& text : slot.texts) text.key = nullptr, text.group_count = 0, text.text.clear();
  slot.path.key = nullptr, slot.path.changes = 0, slot.path.text.clear();
  slot.has_extras.store(false, std::memory_order_relaxed);
}

namespace {

// Objects print themselves before the lock is taken.
void add_values(SpanSlot& slot, FieldValues const& values) noexcept {
  if (!slot.shared.load(std::memory_order_relaxed)) {
    slot.values.add(values);
    if (slot.values.is_large()) slot.special.store(true, std::memory_order_relaxed);
  } else {
    StoredValues added;
    added.add(values);
    std::lock_guard const lock(SpanStore::lock_of(slot));
    slot.values.add_stored(added.data(), added.size_bytes(), added.group_count());
  }
  // Afterwards: who sees the new number sees the new values.
  internal::value_changes.fetch_add(1, std::memory_order_release);
}

}  // namespace

void Registry::record(SpanId id, FieldValues const& values) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = store_->find(id);
  if (track == nullptr || slot == nullptr) return;
  add_values(*slot, values);
  for_each_filter_state(*slot, [&](Filter& filter, std::uintptr_t& state) { filter.on_record(values, state); });
  Context context(*this, *track, Origin{}, 0);
  for_each_layer(on_record_ & slot->verdict, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_record(SpanRef(slot, bit(i)), values, context);
  });
}

void Registry::follows_from(SpanId id, SpanId cause_id) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = store_->find(id);
  SpanSlot* const cause = store_->find(cause_id);
  if (track == nullptr || slot == nullptr || cause == nullptr) return;
  Context context(*this, *track, Origin{}, 0);
  for_each_layer(on_follows_from_ & slot->verdict & cause->verdict, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_follows_from(SpanRef(slot, bit(i)), SpanRef(cause, bit(i)), context);
  });
}

// ---- events ----

// The filters' last word on an event.
Verdict Registry::ask_about(Event const& event, Verdict listeners) noexcept {
  if (event.metadata().is_perf()) return listeners;
  for (auto const& filter : filters_) {
    if (filter->wants_events() && !filter->event_enabled(event)) return 0;
  }
  for_each_layer(event_filters_ & listeners, [&](std::size_t i) {
    if (!layer_filters_[i]->event_enabled(event)) listeners &= ~bit(i);
  });
  return listeners;
}

void Registry::event(Event const& event) noexcept {
  TrackState* const track = store_->track_state(event.origin);
  if (track == nullptr) [[unlikely]] return;
  if (filters_hear_events_) [[unlikely]] {
    tell(Event{event.fields, event.parent, ask_about(event, event.verdict), event.origin}, *track);
  } else {
    tell(event, *track);
  }
}

void Registry::event_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if ((event_listeners_ & verdict) != 0) tell_here(metadata, verdict, values);
}

void Registry::tell_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  internal::InSubscriber const in_subscriber;
  event(Event{FieldValues(metadata, values), {}, verdict, {}});
}

inline void Registry::tell(Event const& event, TrackState& track) noexcept {
  Context context(*this, track, event.origin, 0);
  for_each_layer(on_event_ & event.verdict, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_event(event, context);
  });
}

// ---- looking ----

SpanId Registry::current_span() const noexcept {
  TrackState const* const track = store_->this_thread();
  SpanSlot const* const slot = track == nullptr ? nullptr : track->current(~Verdict{0});
  return slot == nullptr ? SpanId{} : slot->span_id();
}

Metadata const* Registry::metadata(SpanId id) const noexcept {
  SpanSlot const* const slot = store_->find(id);
  return slot == nullptr ? nullptr : slot->metadata;
}

bool Registry::has_open_spans() const noexcept { return store_->any_open(); }

void Registry::flush() noexcept {
  for (auto const& attached : layers_) attached->layer->flush();
}

SpanRef Registry::span(SpanId id) const noexcept { return {store_->find(id), ~Verdict{0}}; }

void Registry::visit_current_spans(void (*visit)(void* context, SpanRef span), void* context) const noexcept {
  TrackState const* const track = store_->this_thread();
  SpanSlot* slot = track == nullptr ? nullptr : track->current(~Verdict{0});
  for (; slot != nullptr; slot = parent_of(*slot)) visit(context, SpanRef(slot, ~Verdict{0}));
}

void Registry::visit_all_tracks(void (*visit)(void* context, Track const& track, std::int64_t os_thread, SpanRef span),
                                void* context) const noexcept {
  for (TrackState const* track = store_->first_track(); track != nullptr; track = track->next) {
    std::size_t const depth = track->depth.load(std::memory_order_acquire);
    auto const* const entries = track->stack.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < depth; ++i) {
      internal::EnteredSpan const& entered = entries[i];
      if (entered.slot->id.load(std::memory_order_relaxed) != entered.id) continue;
      visit(context, track->track, track->os_thread, SpanRef(entered.slot, ~Verdict{0}));
    }
  }
}

}  // namespace tracing::inline v1
