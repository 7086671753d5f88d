// Implements Context: the spans that a track is in, as a layer sees them.
#include "tracing_core/collect/layer.h"

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/span_store.h"

namespace tracing { inline namespace v1 {

Track const& Context::track() const noexcept { return track_.track; }

namespace {

// Returns the span of an entry in the track's stack, if `mask` sees it; otherwise an empty reference.
SpanRef entered_at(internal::TrackState const& track, std::size_t index, LayerMask mask) noexcept {
  internal::StackedSpan const& entered = track.stack.load(std::memory_order_relaxed)[index];
  internal::SpanSlot* const slot = entered.slot;
  bool const is_open = slot != nullptr && slot->id.load(std::memory_order_relaxed) == entered.id;
  return is_open && (slot->mask & mask) != 0 ? SpanRef(slot, mask) : SpanRef();
}

struct Innermost {
  std::size_t count = 0;
  std::size_t begin;  // position of the outermost of these spans in the stack
};
Innermost innermost_of(internal::TrackState const& track, LayerMask mask, std::size_t max) noexcept {
  Innermost found{.begin = track.depth.load(std::memory_order_relaxed)};
  for (; found.begin > 0 && found.count < max; --found.begin) {
    if (entered_at(track, found.begin - 1, mask)) ++found.count;
  }
  return found;
}

}  // namespace

void Context::visit_entered_here(std::size_t max, void (*visit)(void* context, SpanRef span),
                                 void* context) const noexcept {
  internal::TrackState const* const own = registry_.own_track_state();
  if (own == nullptr) return;
  for (std::size_t i = innermost_of(*own, mask_, max).begin; i < own->depth.load(std::memory_order_relaxed); ++i) {
    if (SpanRef const span = entered_at(*own, i, mask_)) visit(context, span);
  }
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

}}  // namespace tracing::v1
