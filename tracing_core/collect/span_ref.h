// Declares SpanRef, an open span as layers see it, and Extensions, what layers keep with it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1 {

/// Objects that layers keep with a span, one of each type. Destroyed after the span's on_close(). Not thread-safe: add them in
/// on_new_span(), later only under SpanRef::lock(); what several threads do to one of them is the layer's own care.
class Extensions {
 public:
  Extensions() = default;
  Extensions(Extensions const&) = delete;
  Extensions& operator=(Extensions const&) = delete;
  ~Extensions() { clear(); }

  /// Null where there is none. Linear in the number of objects, which is small.
  template <class T>
  T* get() const noexcept {
    for (Entry const& entry : entries_) {
      if (entry.type == &kTypeKey<T>) return static_cast<T*>(entry.object);
    }
    return nullptr;
  }
  /// The object of this type, made of `args` where there is none yet.
  template <class T, class... A>
  T& get_or_add(A&&... args) {
    if (T* found = get<T>()) return *found;
    auto object = std::make_unique<T>(std::forward<A>(args)...);
    entries_.push_back({&kTypeKey<T>, object.get(), [](void* p) noexcept { delete static_cast<T*>(p); }});
    return *object.release();
  }
  void clear() noexcept {
    for (Entry const& entry : entries_) entry.destroy(entry.object);
    entries_.clear();
  }

 private:
  template <class T>
  static constexpr char kTypeKey = 0;

  struct Entry {
    void const* type;
    void* object;
    void (*destroy)(void* object) noexcept;
  };
  std::vector<Entry> entries_;
};

/// A text made from a span's values once and reused: see SpanRef::cached_text().
struct CachedText {
  void const* key = nullptr;      ///< whose text it is; each way of formatting has a key of its own
  std::uint32_t group_count = 0;  ///< how many groups of values it shows
  TextBuffer text;
};

/// The texts of a span and of all above it in one, for the lines of events: see SpanRef::cached_path().
struct CachedPath {
  void const* key = nullptr;  ///< whose text it is
  Verdict mask = 0;           ///< the layer for which it was made
  std::uint64_t changes = 0;  ///< how many values had been recorded anywhere when it was made; zero where it is not made
  TextBuffer text;
};

namespace internal {
struct SpanSlot;
}

/// Holds what several threads may read and change of one span: see SpanRef::lock(). Movable.
using SpanLock = std::unique_lock<std::mutex>;

/// An open span as a layer sees it: spans that the layer's filter rejected are not there. Valid during the call that it was
/// passed to. Empty where there is no span.
class SpanRef {
 public:
  SpanRef() noexcept = default;

  explicit operator bool() const noexcept { return slot_ != nullptr; }
  friend bool operator==(SpanRef a, SpanRef b) noexcept { return a.slot_ == b.slot_; }

  SpanId id() const noexcept;
  Metadata const& metadata() const noexcept;
  /// The span that this one was made below; empty at a root.
  SpanRef parent() const noexcept;
  /// While the result lives, values() and cached_text() stay as they are: another thread may hold the span and record to it.
  /// Hold only one span's lock at a time, and call nothing of a user's meanwhile. Costs a load where no other thread can have
  /// the span.
  SpanLock lock() const noexcept;
  /// The values recorded so far, a group for the making and one for each record(). To be read under lock().
  StoredValues const& values() const noexcept;
  Extensions& extensions() const noexcept;
  /// Room for a text made from values(), which starts empty; two ways of formatting have room at once, a third one makes
  /// its text anew each time. Null then. To be used under lock().
  CachedText* cached_text(void const* key) const noexcept;
  /// Room for a text made from the span and all above it. To be used only while no other thread can have the span.
  CachedPath& cached_path() const noexcept;
  /// The layers that see it.
  Verdict verdict() const noexcept;

  // For the registry.
  SpanRef(internal::SpanSlot* slot, Verdict mask) noexcept : slot_(slot), mask_(mask) {}
  internal::SpanSlot* slot() const noexcept { return slot_; }
  Verdict mask() const noexcept { return mask_; }

 private:
  internal::SpanSlot* slot_ = nullptr;
  Verdict mask_ = ~Verdict{0};
};

}  // namespace tracing::inline v1
