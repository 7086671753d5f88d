// SpanRef: a layer's view of an open span.
#pragma once

#include <cstdint>
#include <mutex>

#include "tracing_core/collect/extensions.h"
#include "tracing_core/collect/span_slot.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/stored_values.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {

/// A lock on the parts of a span that several threads may read and change: see SpanRef::lock(). Movable.
using SpanLock = std::unique_lock<support::Mutex>;

/// A layer's view of an open span: parents that the layer's filter rejected are skipped. Valid only during the call
/// that it was passed to. An empty reference only allows operator bool, comparison and copies.
class SpanRef {
 public:
  SpanRef() noexcept = default;

  explicit operator bool() const noexcept { return slot_ != nullptr; }
  friend bool operator==(SpanRef a, SpanRef b) noexcept { return a.slot_ == b.slot_; }

  SpanId id() const noexcept { return slot_->span_id(); }
  Metadata const& metadata() const noexcept { return *slot_->metadata; }
  /// Returns the parent span; empty for a root.
  SpanRef parent() const noexcept {
    internal::SpanSlot* parent = slot_->open_parent();
    while (parent != nullptr && (parent->mask & mask_) == 0) [[unlikely]] parent = parent->open_parent();
    return {parent, mask_};
  }
  /// True if another thread may hold the span. Then values() and cached_text() need lock(), and cached_path() must not
  /// be used. May become true while the calling thread is in the span, but never false again.
  bool is_shared() const noexcept { return slot_->shared.load(std::memory_order_relaxed); }
  /// Keeps values() and cached_text() unchanged while the result lives, even if another thread records to the span.
  /// Hold the lock of only one span at a time, and call no user code meanwhile. Costs one load unless the span
  /// is_shared().
  SpanLock lock() const noexcept;
  /// Returns the values from the span's creation, and the last value of each field recorded since: see StoredValues and
  /// Hooks::all_values. Requires lock().
  StoredValues const& values() const noexcept { return slot_->values; }
  Extensions& extensions() const noexcept;
  /// True if the span keeps a text, an extension or the state of a filter, which closing it has to clear.
  bool has_extras() const noexcept { return slot_->has_extras.load(std::memory_order_relaxed); }
  /// Returns storage for a text made from values(), empty at first. A span has storage for two keys. Returns null for a
  /// third key, or if memory ran out: then the text must be formatted each time. Requires lock().
  CachedText* cached_text(void const* key) const noexcept;
  /// Returns the first cached text, if it has this key and shows all values. Returns null otherwise, and for a span
  /// that is_shared().
  CachedText const* current_text(void const* key) const noexcept {
    if (is_shared() || slot_->texts == nullptr) return nullptr;
    CachedText const& cached = slot_->texts->texts[0];
    return cached.key == key && cached.changes == slot_->values.changes() ? &cached : nullptr;
  }
  /// Returns storage for a text made from the span and all its parents; null if memory ran out. Must not be called for
  /// a span that is_shared().
  CachedPath* cached_path() const noexcept;
  /// Returns the cached path, if it was made for this key and layer and no value was recorded since `changes`, a result
  /// of value_changes(). Returns null otherwise, and for a span that is_shared().
  TextBuffer const* current_path(void const* key, std::uint64_t changes) const noexcept {
    if (is_shared() || slot_->texts == nullptr) return nullptr;
    CachedPath const& path = slot_->texts->path;
    return path.key == key && path.mask == mask_ && path.changes == changes ? &path.text : nullptr;
  }
  /// Counts how often values have been recorded, after their creation, to spans of any registry; starts at 1.
  static std::uint64_t value_changes() noexcept { return internal::value_changes.load(std::memory_order_acquire); }
  /// Returns the layers that see the span.
  LayerMask layers() const noexcept { return slot_->mask; }
  /// Returns the layers whose view this is.
  LayerMask mask() const noexcept { return mask_; }

  // Only for files in collect/.
  SpanRef(internal::SpanSlot* slot, LayerMask mask) noexcept : slot_(slot), mask_(mask) {}
  internal::SpanSlot* slot() const noexcept { return slot_; }

 private:
  internal::SpanSlot* slot_ = nullptr;
  LayerMask mask_ = ~LayerMask{0};
};

}}  // namespace tracing::v1
