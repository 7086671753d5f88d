#include "tracing_core/collect/span_ref.h"

#include "tracing_core/collect/registry_parts.h"

namespace tracing::inline v1 {

using internal::has_extras;
using internal::parent_of;
using internal::SpanSlot;

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

}  // namespace tracing::inline v1
