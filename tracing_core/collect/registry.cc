// Every span and event of a program passes through this file, on any thread. Each layer must get the records that its
// filter lets pass, and no others. A span that no layer wants must still exist, as the parent of what comes after it,
// so it must cost next to nothing.
//
// Two ideas make this cheap. First, nobody is asked here whether a record is wanted. The callsite has found that out
// (see registry_interest.cc), and each record carries the result as a LayerMask, a set of layers. The registry has such
// sets, too: which layers want which call, computed once (RegistryMasks). Whom to call is then a bitwise AND, and a
// record whose AND is zero needs no call at all.
//
// Second, a scope has four paths, and each is tried before the next.
//
// * The fast path, if no layer or filter must be called: SpanStore::open_scope_fast() and close_scope_fast(). A span of
//   two integers then takes some 160 instructions in all, without a lock, an allocation or an atomic read-modify-write.
// * The direct path, if only one layer wants to hear of the scope and takes it by Hooks::direct, as layers that record
//   do. It makes neither a Context nor an Event. Events and spans with handles have it, too.
// * The notifying path, if layers only want to hear of the entry and the exit, as layers that write traces do. The
//   scope is opened and closed as on the fast path, and the layers are called after that.
// * The slow path, for everything else: filters that follow spans, layers that are told of the creation, values that
//   are not only numbers. Spans with handles come by new_span(), enter() and exit(), which have no faster path than the
//   direct one.
//
// A path changes nothing until it is certain to succeed, so the next path can begin from the start. Therefore the
// functions of the slow paths are separate and not inlined: leaving the fast path is a tail call, and the fast path
// saves no registers for it.
//
// The invariant on which the paths rest: `special` is set in a slot as soon as closing the span takes more than freeing
// the slot. Closing takes more if the span is shared, if it keeps extras or large values, if a layer wants to hear of
// its end, or if the registry waits for its last span. Whoever adds another duty to the end of a span has to set
// `special` when the duty arises; close_scope_fast() looks at nothing else in the slot. The second invariant: layers,
// filters and the printing of values only run while InSubscriber is set, by the dispatcher or here, so that records
// which they emit are dropped and do not come back here.
//
// A span ends with its last reference and then drops its reference to its parent, which may end the parent, and so on:
// release() is a loop, so that a long chain of parents needs no stack. A registry whose owner has gone stays until its
// last span ends. The thread that ends this span may destroy the registry, or another thread may do it first. So
// `retired_` is read before the slot is freed, and after that no member is touched.
//
// Rejected: one general path. With it, a layer that only hears of entries and exits added some 520 instructions to each
// span; a span that no layer hears of took 150 in all.
#include "tracing_core/collect/registry.h"

#include "tracing_core/collect/registry_parts.h"
#include "tracing_core/collect/span_store.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 {

using internal::bit;
using internal::for_each_layer;
using internal::set_has_extras;
using internal::share;
using internal::SpanSlot;
using internal::TrackState;

// ---- spans ----

// Prints objects as text. Records that they emit meanwhile are dropped.
[[gnu::noinline]] static void keep_payloads(SpanSlot& slot) noexcept {
  internal::InSubscriber const in_subscriber;
  slot.values.keep_payloads();
  if (slot.values.is_large()) slot.special.store(true, std::memory_order_relaxed);
}

// Sets all members except the id.
static void fill(SpanSlot& slot, NewSpan const& span, SpanSlot* parent) noexcept {
  slot.metadata = &span.metadata();
  slot.mask = span.mask;
  slot.parent = parent;
  if (parent != nullptr) slot.parent_id = parent->id.load(std::memory_order_relaxed);
  if (slot.values.start(span.fields)) keep_payloads(slot);
}

SpanSlot* Registry::make(NewSpan const& span, TrackState& own, TrackState& track) noexcept {
  SpanSlot* const slot = store_->open(own);
  if (slot == nullptr) return nullptr;
  if (span.metadata().parts().owned) [[unlikely]]
    retain(span.metadata());
  SpanSlot* parent = nullptr;
  if (span.parent.kind == Parent::Kind::contextual) [[likely]] {
    parent = track.current(~LayerMask{0});
  } else if (span.parent.kind == Parent::Kind::span) {
    parent = store_->find(span.parent.id);
  }
  slot->use = SpanSlot::Use::handle;
  fill(*slot, span, parent);
  share(slot);
  return slot;
}

namespace {

// Returns the slot's array of filter states, allocated on first use; null if memory ran out.
std::uintptr_t* filter_states(SpanSlot& slot, std::size_t count) noexcept {
  if (slot.filter_states == nullptr) slot.filter_states.reset(new (std::nothrow) std::uintptr_t[count]());
  return slot.filter_states.get();
}

}  // namespace

// Calls a hook that takes the span, these arguments and a context.
template <auto kHook, class... A>
void Registry::notify(LayerMask layers, SpanSlot& slot, TrackState& track, Origin const& origin,
                      A const&... arguments) noexcept {
  if (layers == 0) [[likely]]
    return;
  Context context(*this, track, origin, 0);
  call<kHook>(layers, slot, context, arguments...);
}

// As notify(), with a context that several calls share, so that all of them see one time.
template <auto kHook, class... A>
inline void Registry::call(LayerMask layers, SpanSlot& slot, Context& context, A const&... arguments) noexcept {
  for_each_layer(layers, [&](std::size_t i) {
    context.set_mask(bit(i));
    (layer_pointers_[i]->*kHook)(SpanRef(&slot, bit(i)), arguments..., context);
  });
}

namespace {

bool is_here_and_now(Origin const& origin) noexcept {
  return origin.track == nullptr && !origin.time && !origin.restored;
}

}  // namespace

// As notify(), for a span that is entered, left or closed. A direct layer gets no context.
template <auto kHook>
inline void Registry::notify_step(Layer::Step step, LayerMask layers, SpanSlot& slot, TrackState& track,
                                  Origin const& origin) noexcept {
  if (is_direct(layers) && is_here_and_now(origin) &&
      direct_layer_->try_step(track.track, SpanRef(&slot, layers), step))
    return;
  notify<kHook>(layers, slot, track, origin);
}

void Registry::start_filter_states(SpanSlot& slot, NewSpan const& span) noexcept {
  if (masks_.creation != masks_.kAll && !is_followed(slot.mask)) [[likely]]
    return;
  std::uintptr_t* const states = filter_states(slot, filters_.size() + layers_.size());
  if (states == nullptr) return;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (filters_[i]->follows_spans()) filters_[i]->on_new_span(span, states[i]);
  }
  for_each_layer(masks_.span_filters & slot.mask,
                 [&](std::size_t i) { layer_filters_[i]->on_new_span(span, states[filters_.size() + i]); });
  set_has_extras(slot);
}

template <class F>
void Registry::for_each_filter_state(SpanSlot& slot, F&& f) noexcept {
  if (!slot.has_extras.load(std::memory_order_relaxed) || slot.filter_states == nullptr) [[likely]]
    return;
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
  start_filter_states(*slot, span);
  LayerMask const layers = masks_.on_new_span & slot->mask;
  bool const is_recorded = is_direct(layers) && is_here_and_now(span.origin) &&
                           direct_layer_->try_new_span(track->track, SpanRef(slot, layers), span);
  if (!is_recorded) notify<&Layer::on_new_span>(layers, *slot, *track, span.origin, span);
  return slot->span_id();
}

OpenSpan Registry::open_scope(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  if ((masks_.scope & mask) == 0) [[likely]] {
    SpanSlot const* const slot = store_->open_scope_fast(metadata, mask, values);
    if (slot != nullptr) [[likely]]
      return {this, slot->span_id()};
  } else if (is_direct(masks_.begin() & mask) && !is_followed(mask)) {
    return open_scope_direct(metadata, mask, values);
  }
  return open_scope_slow(metadata, mask, values);
}

OpenSpan Registry::open_scope_direct(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  internal::InSubscriber const in_subscriber;
  SpanSlot* slot = store_->open_scope_fast(metadata, mask, values);
  TrackState* const track = store_->this_thread();
  if (slot == nullptr) [[unlikely]] {
    slot = track == nullptr ? nullptr : store_->open_scope(*track);
    if (slot == nullptr) return {};
    fill(*slot, NewSpan{FieldValues(metadata, values), {}, mask, {}}, track->current(~LayerMask{0}));
    (void)push(*slot, *track, false, false);
  }
  slot->special.store(true, std::memory_order_relaxed);
  if (!direct_layer_->try_scope_begin(track->track, SpanRef(slot, masks_.direct), values)) [[unlikely]]
    notify<&Layer::on_scope_begin>(masks_.direct, *slot, *track, {});
  return {this, slot->span_id()};
}

OpenSpan Registry::open_scope_slow(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  internal::InSubscriber const in_subscriber;
  if ((masks_.creation & mask) == 0 && !is_followed(mask)) {  // only the scope's entry must be notified
    SpanSlot* const slot = store_->open_scope_fast(metadata, mask, values);
    if (slot != nullptr) [[likely]] {
      if ((masks_.end() & mask) != 0) slot->special.store(true, std::memory_order_relaxed);
      Context context(*this, *store_->this_thread(), {}, 0);
      call<&Layer::on_scope_begin>(masks_.scopes & mask, *slot, context);
      call<&Layer::on_enter>(masks_.on_enter & mask & ~masks_.scopes, *slot, context);
      return {this, slot->span_id()};
    }
  }
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track == nullptr ? nullptr : store_->open_scope(*track);
  if (slot == nullptr) return {};
  NewSpan const span{FieldValues(metadata, values), {}, mask, {}};
  fill(*slot, span, track->current(~LayerMask{0}));
  if ((masks_.end() & mask) != 0) slot->special.store(true, std::memory_order_relaxed);
  start_filter_states(*slot, span);
  Context context(*this, *track, {}, 0);
  call<&Layer::on_scope_begin>(masks_.scopes & mask, *slot, context);
  call<&Layer::on_new_span>(masks_.on_new_span & mask & ~masks_.scopes, *slot, context, span);
  if (push(*slot, *track, false, false))
    call<&Layer::on_enter>(masks_.on_enter & mask & ~masks_.scopes, *slot, context);
  return {this, slot->span_id()};
}

void Registry::close_scope(SpanId id) noexcept {
  if (!store_->close_scope_fast(id)) [[unlikely]]
    close_scope_direct(id);
}

void Registry::close_scope_direct(SpanId id) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track == nullptr ? nullptr : store_->innermost_scope(id, *track);
  if (slot == nullptr || !is_direct((masks_.scopes | masks_.end()) & slot->mask) || needs_release(*slot) ||
      slot->values.is_large())
    return close_scope_slow(id);
  {
    internal::InSubscriber const in_subscriber;
    if (direct_layer_->try_scope_end(track->track, SpanRef(slot, masks_.direct))) [[likely]] {
      track->leave();
      return store_->close(*slot, *track);
    }
  }
  close_scope_slow(id);
}

void Registry::close_scope_slow(SpanId id) noexcept {
  internal::InSubscriber const in_subscriber;
  TrackState* const track = store_->this_thread();
  if (track == nullptr || close_scope_notifying(id, *track)) return;
  SpanSlot* const slot = store_->find(id);
  if (slot == nullptr) return;
  if (pop(*slot, *track, {}, true) == Left::held)
    let_go(*slot, *track, {});  // held: a coroutine that another thread
                                // resumed
  release(*slot, *track, {});
}

// Closes the innermost scope fast if only its exit must be notified. If it returns false, it did nothing.
bool Registry::close_scope_notifying(SpanId id, TrackState& track) noexcept {
  SpanSlot* const slot = store_->innermost_scope(id, track);
  if (slot == nullptr || (masks_.on_close & slot->mask & ~masks_.scopes) != 0 || needs_release(*slot)) return false;
  track.leave();
  Context context(*this, track, {}, 0);
  call<&Layer::on_scope_end>(masks_.scopes & slot->mask, *slot, context);
  call<&Layer::on_exit>(masks_.on_exit & slot->mask & ~masks_.scopes, *slot, context);
  if (needs_release(*slot)) [[unlikely]] {  // a layer may just have taken a reference or stored an extension
    release(*slot, track, {});
  } else {
    if (slot->values.is_large()) [[unlikely]]
      slot->values.clear();
    store_->close(*slot, track);
  }
  return true;
}

bool Registry::needs_release(SpanSlot const& slot) const noexcept {
  return slot.shared.load(std::memory_order_relaxed) || slot.has_extras.load(std::memory_order_relaxed) ||
         retired_.load(std::memory_order_acquire);
}

void Registry::close_timed_scope(SpanId id, Timing const& timing) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track != nullptr ? store_->find(id, *track) : nullptr;
  LayerMask const listeners = slot != nullptr ? masks_.on_timed & slot->mask : 0;
  if (listeners != 0) {
    internal::InSubscriber const in_subscriber;
    notify<&Layer::on_timed>(listeners, *slot, *track, {}, timing);
  }
  close_scope(id);
}

// Returns false if memory runs out.
bool Registry::push(SpanSlot& slot, TrackState& track, bool may_be_in_it, bool holds) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_enter(state); });
  return track.push(slot, may_be_in_it, holds);
}

Registry::Left Registry::pop(SpanSlot& slot, TrackState& track, Origin const& origin, bool scope) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_exit(state); });
  Left const left = track.pop(slot, scope, share);
  if (left != Left::nothing)
    notify_step<&Layer::on_exit>(Layer::Step::exit, masks_.on_exit & slot.mask, slot, track, origin);
  return left;
}

void Registry::enter(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  SpanSlot* const slot = track != nullptr ? store_->find(id) : nullptr;
  if (slot == nullptr) return;
  bool const is_thread = origin.track == nullptr;  // other tracks hold nothing: their replayer ends the spans
  bool const may_be_in_it = slot->use != SpanSlot::Use::handle || slot->references.has_entries() ||
                            slot->visits.load(std::memory_order_relaxed) != 0;
  if (!push(*slot, *track, may_be_in_it, is_thread)) return;
  if (is_thread) {
    slot->references.enter();
  } else {
    slot->visits.fetch_add(1, std::memory_order_relaxed);
  }
  notify_step<&Layer::on_enter>(Layer::Step::enter, masks_.on_enter & slot->mask, *slot, *track, origin);
}

void Registry::exit(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  if (track == nullptr || !id) return;
  SpanSlot* const slot = store_->find(id, *track);
  if (slot == nullptr) return track->forget(id);
  bool const is_thread = origin.track == nullptr;
  switch (pop(*slot, *track, origin, !is_thread)) {
    case Left::held: return let_go(*slot, *track, origin);
    case Left::scope:
      if (!is_thread) slot->visits.fetch_sub(1, std::memory_order_relaxed);
      return;
    case Left::nothing:
      if (is_thread) slot->references.loosen();
      return;
  }
}

// Drops the reference of an entry after the thread has left the span.
void Registry::let_go(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  bool const retired = retired_.load(std::memory_order_acquire);  // see release()
  if (!slot.references.leave()) return;
  if (SpanSlot* const parent = close(slot, track, origin)) release(*parent, track, origin);
  if (retired) [[unlikely]]
    RetiredRegistries::reap();
}

void Registry::add_reference(SpanId id) noexcept {
  SpanSlot* const slot = store_->find(id);
  if (slot == nullptr) return;
  share(slot);
  slot->references.add();
}

void Registry::drop_reference(SpanId id, Origin const& origin) noexcept {
  TrackState* const track = store_->track_state(origin);
  SpanSlot* const slot = store_->find(id);
  if (track != nullptr && slot != nullptr) release(*slot, *track, origin);
}

void Registry::release(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  // This must be read first: a retired registry may be destroyed as soon as its last slot is free.
  bool const retired = retired_.load(std::memory_order_acquire);
  for (SpanSlot* next = &slot; next != nullptr;) next = next->references.drop() ? close(*next, track, origin) : nullptr;
  if (retired) [[unlikely]]
    RetiredRegistries::reap();
}

SpanSlot* Registry::close(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  notify_step<&Layer::on_close>(Layer::Step::close, masks_.on_close & slot.mask, slot, track, origin);
  SpanSlot* const parent = slot.shared.load(std::memory_order_relaxed) ? slot.parent : nullptr;
  if (slot.has_extras.load(std::memory_order_relaxed)) clear_extras(slot);
  if (slot.values.is_large()) slot.values.clear();
  slot.references.reset();
  slot.visits.store(0, std::memory_order_relaxed);
  slot.shared.store(false, std::memory_order_relaxed);
  Metadata const& metadata = *slot.metadata;
  TrackState* const own = origin.track == nullptr ? &track : store_->this_thread();
  if (own != nullptr) store_->close(slot, *own);
  if (metadata.parts().owned) [[unlikely]]
    tracing::release(metadata);
  return parent;
}

void Registry::clear_extras(SpanSlot& slot) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t& state) { filter.on_close(std::exchange(state, 0)); });
  slot.extensions.clear();
  if (slot.texts != nullptr) {
    for (CachedText& text : slot.texts->texts) text.key = nullptr, text.changes = 0, text.text.clear();
    CachedPath& path = slot.texts->path;
    path.key = nullptr, path.changes = 0, path.text.clear();
  }
  slot.has_extras.store(false, std::memory_order_relaxed);
}

namespace {

// Prints objects as text before it takes the lock.
void add_values(SpanSlot& slot, FieldValues const& values, bool keep_all) noexcept {
  StoredValues added;
  added.add(values);
  if (!slot.shared.load(std::memory_order_relaxed)) {
    slot.values.update(values.metadata(), added, keep_all);
    if (slot.values.is_large()) slot.special.store(true, std::memory_order_relaxed);
  } else {
    support::MutexLock const lock(SpanStore::lock_of(slot));
    slot.values.update(values.metadata(), added, keep_all);
  }
  // Counts up after the values are stored, so that a thread that sees the new number also sees the new values.
  internal::value_changes.fetch_add(1, std::memory_order_release);
}

}  // namespace

void Registry::record(SpanId id, FieldValues const& values) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = store_->find(id);
  if (track == nullptr || slot == nullptr) return;
  add_values(*slot, values, (masks_.all_values & slot->mask) != 0);
  for_each_filter_state(*slot, [&](Filter& filter, std::uintptr_t& state) { filter.on_record(values, state); });
  notify<&Layer::on_record>(masks_.on_record & slot->mask, *slot, *track, {}, values);
}

void Registry::follows_from(SpanId id, SpanId cause_id) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = store_->find(id);
  SpanSlot* const cause = store_->find(cause_id);
  if (track == nullptr || slot == nullptr || cause == nullptr) return;
  Context context(*this, *track, Origin{}, 0);
  for_each_layer(masks_.on_follows_from & slot->mask & cause->mask, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_follows_from(SpanRef(slot, bit(i)), SpanRef(cause, bit(i)), context);
  });
}

// ---- events ----

// Returns the layers among `layers` whose filters accept the event, including its values.
LayerMask Registry::query_event_filters(Event const& event, LayerMask layers) noexcept {
  if (event.metadata().is_perf()) return layers;
  for (auto const& filter : filters_) {
    if (filter->wants_events() && !filter->event_enabled(event)) return 0;
  }
  for_each_layer(masks_.event_filters & layers, [&](std::size_t i) {
    if (!layer_filters_[i]->event_enabled(event)) layers &= ~bit(i);
  });
  return layers;
}

void Registry::event(Event const& event) noexcept {
  TrackState* const track = store_->track_state(event.origin);
  if (track == nullptr) [[unlikely]]
    return;
  if (masks_.event == masks_.kAll) [[unlikely]] {
    dispatch(Event{event.fields, event.parent, query_event_filters(event, event.mask), event.origin}, *track);
  } else {
    dispatch(event, *track);
  }
}

void Registry::event_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  LayerMask const layers = masks_.event & mask;
  if (layers != 0 && !(is_direct(layers) && event_direct(metadata, mask, values)))
    dispatch_here(metadata, mask, values);
}

inline bool Registry::event_direct(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  TrackState* const track = store_->this_thread();
  internal::InSubscriber const in_subscriber;
  return track != nullptr && direct_layer_->try_event(track->track, metadata, values, mask);
}

void Registry::dispatch_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept {
  internal::InSubscriber const in_subscriber;
  event(Event{FieldValues(metadata, values), {}, mask, {}});
}

inline void Registry::dispatch(Event const& event, TrackState& track) noexcept {
  Context context(*this, track, event.origin, 0);
  for_each_layer(masks_.on_event & event.mask, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_event(event, context);
  });
}

void Registry::count_dropped(LayerMask mask) noexcept {
  for_each_layer(masks_.on_event & mask, [&](std::size_t i) { layer_pointers_[i]->on_dropped(); });
}

// ---- queries ----

SpanId Registry::current_span() const noexcept {
  TrackState const* const track = store_->this_thread();
  SpanSlot const* const slot = track == nullptr ? nullptr : track->current(~LayerMask{0});
  return slot == nullptr ? SpanId{} : slot->span_id();
}

Metadata const* Registry::metadata(SpanId id) const noexcept {
  SpanSlot const* const slot = store_->find(id);
  return slot == nullptr ? nullptr : slot->metadata;
}

bool Registry::has_open_spans() const noexcept { return store_->any_open(); }

internal::TrackState const* Registry::own_track_state() const noexcept { return store_->this_thread(); }

Track const* Registry::own_track() const noexcept {
  TrackState const* const track = own_track_state();
  return track == nullptr ? nullptr : &track->track;
}

void Registry::flush() noexcept {
  for (auto const& attached : layers_) attached->layer->flush();
}

SpanRef Registry::span(SpanId id) const noexcept { return {store_->find(id), ~LayerMask{0}}; }

void Registry::visit_current_spans(void (*visit)(void* context, SpanRef span), void* context) const noexcept {
  TrackState const* const track = store_->this_thread();
  SpanSlot* slot = track == nullptr ? nullptr : track->current(~LayerMask{0});
  for (; slot != nullptr; slot = slot->open_parent()) visit(context, SpanRef(slot, ~LayerMask{0}));
}

void Registry::visit_all_tracks(void (*visit)(void* context, Track const& track, std::int64_t os_thread, SpanRef span),
                                void* context) const noexcept {
  for (TrackState const* track = store_->first_track(); track != nullptr; track = track->next) {
    std::size_t const depth = track->depth.load(std::memory_order_acquire);
    auto const* const entries = track->stack.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < depth; ++i) {
      internal::StackedSpan const& entered = entries[i];
      if (entered.slot->id.load(std::memory_order_relaxed) != entered.id) continue;
      visit(context, track->track, track->os_thread, SpanRef(entered.slot, ~LayerMask{0}));
    }
  }
}

}}  // namespace tracing::v1
