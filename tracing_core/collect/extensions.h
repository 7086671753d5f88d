// Extensions: the objects that layers keep with a span.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// The objects that layers keep with a span, at most one of each type. They are destroyed after the span's on_close().
/// Not thread-safe: add objects in on_new_span(), or later under SpanRef::lock(). The layer itself synchronizes access
/// to an object.
class Extensions {
 public:
  Extensions() = default;
  Extensions(Extensions const&) = delete;
  Extensions& operator=(Extensions const&) = delete;
  ~Extensions() { clear(); }

  /// Returns null if there is no object of this type. Linear in the number of objects, which is small.
  template <class T>
  T* get() const noexcept {
    if (entries_ == nullptr) return nullptr;
    for (Entry const& entry : *entries_) {
      if (entry.type == &kTypeKey<T>) return static_cast<T*>(entry.object);
    }
    return nullptr;
  }
  /// Returns the object of this type; constructs it from `args` if there is none yet.
  template <class T, class... A>
  T& get_or_add(A&&... args) {
    if (T* found = get<T>()) return *found;
    auto object = std::make_unique<T>(std::forward<A>(args)...);
    if (entries_ == nullptr) entries_ = std::make_unique<std::vector<Entry>>();
    entries_->push_back({&kTypeKey<T>, object.get(), [](void* p) noexcept { delete static_cast<T*>(p); }});
    return *object.release();
  }
  void clear() noexcept {
    if (entries_ == nullptr) return;
    for (Entry const& entry : *entries_) entry.destroy(entry.object);
    entries_->clear();
  }

 private:
  template <class T>
  static constexpr char kTypeKey = 0;

  struct Entry {
    void const* type;
    void* object;
    void (*destroy)(void* object) noexcept;
  };
  std::unique_ptr<std::vector<Entry>> entries_;  // null in most spans
};

}}  // namespace tracing::v1
