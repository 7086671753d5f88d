// SpanSlot: the memory of one open span. Only the files of collect/ use it; layers see it through SpanRef.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "tracing_core/collect/extensions.h"
#include "tracing_core/collect/span_references.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1 {

/// A text made from a span's values and reused: see SpanRef::cached_text().
struct CachedText {
  void const* key = nullptr;      ///< identifies the format that made it
  std::uint32_t changes = 0;  ///< StoredValues::changes() when it was made
  TextBuffer text;
};

/// The text of a span and all its parents, for the lines of events: see SpanRef::cached_path().
struct CachedPath {
  void const* key = nullptr;  ///< identifies the format that made it
  LayerMask mask = 0;         ///< the layer that it was made for
  std::uint64_t changes = 0;  ///< SpanRef::value_changes() when it was made; zero if it is not made
  TextBuffer text;
};

namespace internal {

extern constinit std::atomic<std::uint64_t> value_changes;  // see SpanRef::value_changes()

// What formats keep of a span. Made when the first one does, and kept with the slot.
struct SpanTexts {
  std::array<CachedText, 2> texts;
  CachedPath path;
};

// An open or a free slot.
struct alignas(64) SpanSlot {
  std::atomic<std::uint64_t> id{0};  // high half: generation, even while open; low half: index of the slot, from 1
  Metadata const* metadata = nullptr;
  SpanSlot* parent = nullptr;
  std::uint64_t parent_id = 0;
  // In the registry's recording and in that of a profile. The second one is the address of the next free slot while this is in
  // a list of those.
  std::array<std::uint64_t, 2> record_keys{};
  std::atomic<std::uint32_t> visits{0};  // entries of tracks that are no threads
  LayerMask mask = 0;
  // Any thread may have a handle, and the span holds a reference to its parent. False while closed.
  std::atomic<bool> shared{false};
  std::atomic<bool> has_extras{false};  // close() must clear filter states, texts or extensions
  std::atomic<bool> special{true};      // excludes close_scope_fast(); false while a slot of a stack is closed
  enum class Use : std::uint8_t {
    handle,
    scope,
    scope_of_stack,  // permanently belongs to an entry of a track's stack, never to a free list
  } use = Use::handle;
  std::uint32_t record_tag = 0;         // of the registry's recording, when the span was opened
  StoredValues values;
  std::unique_ptr<SpanTexts> texts;
  Extensions extensions;
  std::unique_ptr<std::uintptr_t[]> filter_states;  // the registry's filters first, then those of the layers
  SpanReferences references;                        // one of them while closed

  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32;

  // The index of the slot, from 0.
  std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(id.load(std::memory_order_relaxed)) - 1; }
  SpanId span_id() const noexcept { return {id.load(std::memory_order_relaxed)}; }
  // Null if there is none, or if it is closed.
  SpanSlot* open_parent() const noexcept {
    return parent == nullptr || parent->id.load(std::memory_order_relaxed) != parent_id ? nullptr : parent;
  }
  bool is_open() const noexcept { return (id.load(std::memory_order_acquire) & kGeneration) == 0; }
  // Opens a closed slot or closes an open one. Only one thread may do so at a time.
  void next_generation(std::memory_order order) noexcept {
    id.store(id.load(std::memory_order_relaxed) + kGeneration, order);
  }
};

}  // namespace internal
}  // namespace tracing::inline v1
