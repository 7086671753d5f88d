#include "tracing_core/collect/registry.h"

#include <algorithm>
#include <mutex>

#include "tracing_core/collect/span_store.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1 {

using internal::SpanSlot;
using internal::TrackState;

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

namespace {

constexpr Verdict kRegistryItself = Verdict{1} << 31;  // a registry without layers wants its spans all the same
constexpr Verdict kAskGlobal = Verdict{1} << 30;       // undecided: the filters of the whole registry

// The first layer in `set`, which is not empty. (std::countr_zero asks whether it is.)
inline std::size_t lowest(Verdict set) noexcept { return static_cast<std::size_t>(__builtin_ctz(set)); }

// Calls `f(index)` for each layer in `set`, in the order in which they were added.
template <class F>
inline void for_each_layer(Verdict set, F&& f) noexcept {
  for (; set != 0; set &= set - 1) f(lowest(set));
}

constexpr Verdict bit(std::size_t index) noexcept { return Verdict{1} << index; }

SpanSlot* parent_of(SpanSlot const& slot) noexcept {
  SpanSlot* const parent = slot.parent;
  if (parent == nullptr || parent->id.load(std::memory_order_relaxed) != slot.parent_id) return nullptr;
  return parent;
}

// From now on the span and its parents may be held by anybody: each takes a reference to its parent.
void share(SpanSlot* slot) noexcept {
  while (slot != nullptr && !slot->shared.load(std::memory_order_relaxed)) {
    slot->shared.store(true, std::memory_order_relaxed);
    slot->special.store(true, std::memory_order_relaxed);
    slot->parent = parent_of(*slot);
    if (slot->parent != nullptr) slot->parent->references.fetch_add(1, std::memory_order_relaxed);
    slot = slot->parent;
  }
}

// There is something to clear when it closes.
void has_extras(SpanSlot& slot) noexcept {
  if (slot.has_extras.load(std::memory_order_relaxed)) return;
  slot.has_extras.store(true, std::memory_order_relaxed);
  slot.special.store(true, std::memory_order_relaxed);
}

}  // namespace

// ---- SpanRef and Context ----

SpanId SpanRef::id() const noexcept { return slot_->span_id(); }
Metadata const& SpanRef::metadata() const noexcept { return *slot_->metadata; }
StoredValues const& SpanRef::values() const noexcept { return slot_->values; }
SpanLock SpanRef::lock() const noexcept {
  return slot_->shared.load(std::memory_order_relaxed) ? SpanLock(SpanStore::lock_of(*slot_)) : SpanLock();
}
Extensions& SpanRef::extensions() const noexcept {
  has_extras(*slot_);
  return slot_->extensions;
}
Verdict SpanRef::verdict() const noexcept { return slot_->verdict; }

SpanRef SpanRef::parent() const noexcept {
  SpanSlot* parent = parent_of(*slot_);
  while (parent != nullptr && (parent->verdict & mask_) == 0) parent = parent_of(*parent);
  return {parent, mask_};
}

CachedText* SpanRef::cached_text(void const* key) const noexcept {
  has_extras(*slot_);
  for (CachedText& text : slot_->texts) {
    if (text.key == key) return &text;
    if (text.key != nullptr) continue;
    text.key = key;
    return &text;
  }
  return nullptr;
}

CachedPath& SpanRef::cached_path() const noexcept {
  has_extras(*slot_);
  return slot_->path;
}

Track const& Context::track() const noexcept { return track_.track; }
SpanRef Context::current_span() const noexcept { return {track_.current(mask_), mask_}; }
SpanRef Context::span(SpanId id) const noexcept {
  SpanRef const found = registry_.span(id);
  return found && (found.verdict() & mask_) != 0 ? SpanRef(found.slot(), mask_) : SpanRef();
}
SpanRef Context::event_span(Event const& event) const noexcept {
  if (event.parent.kind == Parent::Kind::contextual) return current_span();
  if (event.parent.kind == Parent::Kind::root) return {};
  SpanRef const parent = registry_.span(event.parent.id);
  if (!parent) return {};
  SpanRef const seen(parent.slot(), mask_);
  return (parent.verdict() & mask_) != 0 ? seen : seen.parent();
}

// ---- interest ----

Registry::Registry(std::vector<std::unique_ptr<Attached>> layers, std::vector<std::unique_ptr<Filter>> filters)
    : layers_(std::move(layers)), filters_(std::move(filters)), store_(std::make_unique<SpanStore>()) {
  if (layers_.empty()) always_ = kRegistryItself;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Filter* const filter = layers_[i]->filter.get();
    layer_filters_[i] = filter;
    layer_pointers_[i] = layers_[i]->layer.get();
    if (filter == nullptr) always_ |= bit(i);
    if (filter != nullptr && filter->follows_spans()) span_filters_ |= bit(i);
    if (filter != nullptr && filter->wants_events()) event_filters_ |= bit(i);
    if (filter != nullptr && filter->decides_by_gate()) by_gate_ |= bit(i);
    Hooks const hooks = layers_[i]->layer->hooks();
    if (has(hooks, Hooks::new_span)) on_new_span_ |= bit(i);
    if (has(hooks, Hooks::record)) on_record_ |= bit(i);
    if (has(hooks, Hooks::follows_from)) on_follows_from_ |= bit(i);
    if (has(hooks, Hooks::event)) on_event_ |= bit(i);
    if (has(hooks, Hooks::enter)) on_enter_ |= bit(i);
    if (has(hooks, Hooks::exit)) on_exit_ |= bit(i);
    if (has(hooks, Hooks::close)) on_close_ |= bit(i);
  }
  for (auto const& filter : filters_) global_span_filters_ = global_span_filters_ || filter->follows_spans();
  filters_hear_events_ = event_filters_ != 0;
  for (auto const& filter : filters_) filters_hear_events_ = filters_hear_events_ || filter->wants_events();
  event_listeners_ = filters_hear_events_ ? ~Verdict{0} : on_event_;
  Verdict const heard_opening = global_span_filters_ ? ~Verdict{0} : on_new_span_ | on_enter_ | span_filters_;
  heard_closing_ = on_exit_ | on_close_;  // what a filter keeps with the span is found in the span
  heard_ = heard_opening | heard_closing_;
}

Registry::~Registry() = default;

Registration Registry::register_callsite(Metadata const& metadata) noexcept {
  Registration result;
  for (auto const& filter : filters_) {
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::never) return {};
    if (interest == Interest::sometimes) result.undecided |= kAskGlobal;
  }
  result.wanted = always_;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Filter* const filter = layers_[i]->filter.get();
    if (filter == nullptr || metadata.level() > filter->max_level_hint()) continue;
    Interest const interest = filter->callsite_enabled(metadata);
    if (interest == Interest::always) result.wanted |= bit(i);
    if (interest == Interest::sometimes) result.undecided |= bit(i);
  }
  if (result.undecided != 0) {
    result.by_gate = (result.undecided & ~by_gate_) == 0;
    result.interest = (result.wanted | (result.undecided & ~kAskGlobal)) != 0 ? Interest::sometimes : Interest::never;
  } else {
    result.interest = result.wanted != 0 ? Interest::always : Interest::never;
  }
  return result;
}

LevelFilter Registry::max_level_hint() const noexcept {
  LevelFilter hint = always_ != 0 ? LevelFilter::trace : LevelFilter::off;
  for (auto const& attached : layers_) {
    if (attached->filter != nullptr) hint = std::max(hint, attached->filter->max_level_hint());
  }
  for (auto const& filter : filters_) hint = std::min(hint, filter->max_level_hint());
  return hint;
}

Verdict Registry::enabled(Metadata const& metadata) noexcept {
  // What a filter says of a callsite once and for all stands above what it says of the moment, as it does where
  // callsites remember it.
  Registration const known = register_callsite(metadata);
  return known.interest == Interest::sometimes ? enabled_now(metadata, known.wanted, known.undecided) : known.wanted;
}

Verdict Registry::enabled_now(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
  bool const one = (undecided & (undecided - 1)) == 0;
  if (!one || undecided == kAskGlobal) [[unlikely]] return ask_filters(metadata, wanted, undecided);
  return layer_filters_[lowest(undecided)]->enabled_now(metadata) ? wanted | undecided : wanted;
}

Verdict Registry::ask_filters(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
  if ((undecided & kAskGlobal) != 0) {
    for (auto const& filter : filters_) {
      if (!filter->enabled(metadata)) return 0;
    }
  }
  for_each_layer(undecided & ~kAskGlobal, [&](std::size_t i) {
    if (layer_filters_[i]->enabled_now(metadata)) wanted |= bit(i);
  });
  return wanted;
}

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

OpenSpan Registry::open_scope(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if ((heard_ & verdict) == 0) [[likely]] {
    SpanSlot const* const slot = store_->open_scope_quickly(metadata, verdict, values);
    if (slot != nullptr) [[likely]] return {this, slot->span_id()};
  }
  return open_scope_slowly(metadata, verdict, values);
}

OpenSpan Registry::open_scope_slowly(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  TrackState* const track = store_->this_thread();
  SpanSlot* const slot = track == nullptr ? nullptr : store_->open_scope(*track);
  if (slot == nullptr) return {};
  NewSpan const span{FieldValues(metadata, values), {}, verdict, {}};
  fill(*slot, span, track->current(~Verdict{0}));
  internal::InSubscriber const in_subscriber;
  if ((heard_closing_ & verdict) != 0) slot->special.store(true, std::memory_order_relaxed);
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
  SpanSlot* const slot = store_->find(id);
  if (track == nullptr || slot == nullptr) return;
  pop(*slot, *track, {});
  release(*slot, *track, {});
}

void Registry::push(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_enter(state); });
  bool const entered = track.push(slot);
  Verdict const listeners = on_enter_ & slot.verdict;
  if (!entered || listeners == 0) [[likely]] return;
  Context context(*this, track, origin, 0);
  for_each_layer(listeners, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_enter(SpanRef(&slot, bit(i)), context);
  });
}

void Registry::pop(SpanSlot& slot, TrackState& track, Origin const& origin) noexcept {
  for_each_filter_state(slot, [](Filter& filter, std::uintptr_t state) { filter.on_exit(state); });
  bool const left = track.pop(slot, share);
  Verdict const listeners = on_exit_ & slot.verdict;
  if (!left || listeners == 0) [[likely]] return;
  Context context(*this, track, origin, 0);
  for_each_layer(listeners, [&](std::size_t i) {
    context.set_mask(bit(i));
    layer_pointers_[i]->on_exit(SpanRef(&slot, bit(i)), context);
  });
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
  Verdict const listeners = on_close_ & slot.verdict;
  if (listeners != 0) [[unlikely]] {
    Context context(*this, track, origin, 0);
    for_each_layer(listeners, [&](std::size_t i) {
      context.set_mask(bit(i));
      layer_pointers_[i]->on_close(SpanRef(&slot, bit(i)), context);
    });
  }
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

void Registry::visit_all_tracks(void (*visit)(void* context, Track const& track, std::int64_t os_thread, SpanRef span), void* context) const noexcept {
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

// ---- building ----

RegistryBuilder::RegistryBuilder() = default;
RegistryBuilder::RegistryBuilder(RegistryBuilder&&) noexcept = default;
RegistryBuilder& RegistryBuilder::operator=(RegistryBuilder&&) noexcept = default;
RegistryBuilder::~RegistryBuilder() = default;

RegistryBuilder&& RegistryBuilder::with(std::unique_ptr<Layer> layer, std::unique_ptr<Filter> filter) && {
  if (layer != nullptr && layers_.size() < kMostLayers) {
    layers_.push_back(std::make_unique<Registry::Attached>(Registry::Attached{std::move(layer), std::move(filter)}));
  }
  return std::move(*this);
}

RegistryBuilder&& RegistryBuilder::with_filter(std::unique_ptr<Filter> filter) && {
  if (filter != nullptr) filters_.push_back(std::move(filter));
  return std::move(*this);
}

namespace {

constinit internal::NeverDestroyed<Registry::Graveyard> graveyard;

}  // namespace

void Registry::Graveyard::retire(Registry* registry) noexcept {
  registry->retired_.store(true, std::memory_order_release);
  registry->store_->close_open_ones_slowly();
  registry->flush();
  try {
    std::lock_guard const lock(graveyard->mutex);
    graveyard->waiting.emplace_back(registry);
  } catch (...) {  // then it stays
  }
  bury();
  internal::forget_dead_subscribers();
}

void Registry::Graveyard::bury() noexcept {
  std::unique_ptr<Registry> done;
  do {
    done.reset();
    std::lock_guard const lock(graveyard->mutex);
    auto const found = std::find_if(graveyard->waiting.begin(), graveyard->waiting.end(),
                                    [](auto const& retired) { return !retired->has_open_spans(); });
    if (found == graveyard->waiting.end()) return;
    done = std::move(*found);
    graveyard->waiting.erase(found);
  } while (true);
}

std::shared_ptr<Registry> RegistryBuilder::build() && {
  return std::shared_ptr<Registry>(new Registry(std::move(layers_), std::move(filters_)), Registry::Graveyard::retire);
}

}  // namespace tracing::inline v1
