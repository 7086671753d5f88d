#include "tracing_core/collect/span_ref.h"

#include <new>

#include "tracing_core/collect/registry_parts.h"

namespace tracing::inline v1 {

using internal::set_has_extras;

SpanLock SpanRef::lock() const noexcept { return is_shared() ? SpanLock(SpanStore::lock_of(*slot_)) : SpanLock(); }
Extensions& SpanRef::extensions() const noexcept {
  set_has_extras(*slot_);
  return slot_->extensions;
}

namespace {

internal::SpanTexts* texts_of(internal::SpanSlot& slot) noexcept {
  if (slot.texts == nullptr) slot.texts.reset(new (std::nothrow) internal::SpanTexts);
  if (slot.texts != nullptr) set_has_extras(slot);
  return slot.texts.get();
}

}  // namespace

CachedText* SpanRef::cached_text(void const* key) const noexcept {
  internal::SpanTexts* const texts = texts_of(*slot_);
  if (texts == nullptr) return nullptr;
  for (CachedText& text : texts->texts) {
    if (text.key == key) return &text;
    if (text.key != nullptr) continue;
    text.key = key;
    return &text;
  }
  return nullptr;
}

CachedPath* SpanRef::cached_path() const noexcept {
  internal::SpanTexts* const texts = texts_of(*slot_);
  return texts == nullptr ? nullptr : &texts->path;
}

Track const& Context::track() const noexcept { return track_.track; }
namespace {

// The span of an entry of the track's stack, if `mask` sees it; otherwise empty.
SpanRef entered_at(internal::TrackState const& track, std::size_t index, LayerMask mask) noexcept {
  internal::EnteredSpan const& entered = track.stack.load(std::memory_order_relaxed)[index];
  internal::SpanSlot* const slot = entered.slot;
  bool const is_open = slot != nullptr && slot->id.load(std::memory_order_relaxed) == entered.id;
  return is_open && (slot->mask & mask) != 0 ? SpanRef(slot, mask) : SpanRef();
}

struct Innermost {
  std::size_t count = 0;
  std::size_t begin;  // where the stack has the outermost of them
};
Innermost innermost_of(internal::TrackState const& track, LayerMask mask, std::size_t max) noexcept {
  Innermost found{.begin = track.depth.load(std::memory_order_relaxed)};
  for (; found.begin > 0 && found.count < max; --found.begin) {
    if (entered_at(track, found.begin - 1, mask)) ++found.count;
  }
  return found;
}

void visit_entered_of(internal::TrackState const& track, std::size_t begin, LayerMask mask,
                      void (*visit)(void* context, SpanRef span), void* context) noexcept {
  for (std::size_t i = begin; i < track.depth.load(std::memory_order_relaxed); ++i) {
    if (SpanRef const span = entered_at(track, i, mask)) visit(context, span);
  }
}

}  // namespace

void Context::visit_entered(void (*visit)(void* context, SpanRef span), void* context) const noexcept {
  visit_entered_of(track_, 0, mask_, visit, context);
}
void Context::visit_entered_here(std::size_t max, void (*visit)(void* context, SpanRef span),
                                 void* context) const noexcept {
  if (internal::TrackState const* const own = registry_.own_track_state())
    visit_entered_of(*own, innermost_of(*own, mask_, max).begin, mask_, visit, context);
}
std::size_t Context::count_entered_here(std::size_t max) const noexcept {
  internal::TrackState const* const own = registry_.own_track_state();
  return own == nullptr ? 0 : innermost_of(*own, mask_, max).count;
}
SpanRef Context::current_span() const noexcept { return {track_.current(mask_), mask_}; }
SpanRef Context::span(SpanId id) const noexcept {
  SpanRef const found = registry_.span(id);
  return found && (found.layers() & mask_) != 0 ? SpanRef(found.slot(), mask_) : SpanRef();
}
SpanRef Context::event_span(Event const& event) const noexcept {
  if (event.parent.kind == Parent::Kind::contextual) return current_span();
  if (event.parent.kind == Parent::Kind::root) return {};
  SpanRef const parent = registry_.span(event.parent.id);
  if (!parent) return {};
  SpanRef const seen(parent.slot(), mask_);
  return (parent.layers() & mask_) != 0 ? seen : seen.parent();
}

}  // namespace tracing::inline v1
