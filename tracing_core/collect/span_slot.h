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

namespace tracing { inline namespace v1 {

/// A text made from a span's values and reused: see SpanRef::cached_text().
struct CachedText {
  void const* key = nullptr;  ///< identifies the format that made it
  std::uint32_t changes = 0;  ///< StoredValues::changes() when it was made
  TextBuffer text;
};

/// The text of a span and all its parents, for the lines of events: see SpanRef::cached_path().
struct CachedPath {
  void const* key = nullptr;  ///< identifies the format that made it
  LayerMask mask = 0;         ///< the layer for which it was made
  std::uint64_t changes = 0;  ///< SpanRef::value_changes() when it was made; zero: nothing is cached
  TextBuffer text;
};

namespace internal {

extern constinit std::atomic<std::uint64_t> value_changes;  // see SpanRef::value_changes()

// The texts that formats keep of a span. Allocated for the first text, and kept with the slot.
struct SpanTexts {
  std::array<CachedText, 2> texts;
  CachedPath path;
};

// The memory of one span. It is open or free.
struct alignas(64) SpanSlot {
  std::atomic<std::uint64_t> id{0};  // high half: generation, even while the slot is open; low half: index of the slot,
                                     // from 1
  Metadata const* metadata = nullptr;
  SpanSlot* parent = nullptr;
  std::uint64_t parent_id = 0;
  // The span's keys in the registry's recording and in a profile's recording. While the slot is in a list of free
  // slots, the second one is the address of the next slot.
  std::array<std::uint64_t, 2> record_keys{};
  std::atomic<std::uint32_t> visits{0};  // number of entries of tracks that are not threads
  LayerMask mask = 0;
  // True if any thread may have a handle; then the span also holds a reference to its parent. False while closed.
  std::atomic<bool> shared{false};
  std::atomic<bool> has_extras{false};  // close() must clear filter states, texts or extensions
  std::atomic<bool> special{true};      // forbids close_scope_fast(); false while a slot of a stack is closed
  enum class Use : std::uint8_t {
    handle,
    scope,
    scope_of_stack,  // permanently belongs to an entry of a track's stack, never to a free list
  } use = Use::handle;
  std::uint32_t record_tag = 0;  // tag of the registry's recording when the span was opened
  StoredValues values;
  std::unique_ptr<SpanTexts> texts;
  Extensions extensions;
  std::unique_ptr<std::uintptr_t[]> filter_states;  // states of the registry's filters, then of the layers' filters
  SpanReferences references;                        // has one handle while the span is closed

  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32;

  // Returns the index of the slot, from 0.
  std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(id.load(std::memory_order_relaxed)) - 1; }
  SpanId span_id() const noexcept { return {id.load(std::memory_order_relaxed)}; }
  // Returns null if the span has no parent, or if the parent is closed.
  SpanSlot* open_parent() const noexcept {
    return parent == nullptr || parent->id.load(std::memory_order_relaxed) != parent_id ? nullptr : parent;
  }
  bool is_open() const noexcept { return (id.load(std::memory_order_acquire) & kGeneration) == 0; }
  // Opens a closed slot or closes an open one. Only one thread may do this at a time.
  void next_generation(std::memory_order order) noexcept {
    id.store(id.load(std::memory_order_relaxed) + kGeneration, order);
  }
};

}  // namespace internal
}}  // namespace tracing::v1
