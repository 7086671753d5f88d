#include "tracing_core/collect/span_ref.h"

#include <new>

#include "tracing_core/collect/span_store.h"

namespace tracing { inline namespace v1 {

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

}}  // namespace tracing::v1
