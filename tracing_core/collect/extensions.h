// Extensions: the objects that layers keep with a span.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace tracing::inline v1 {

/// Objects that layers keep with a span, one of each type. Destroyed after the span's on_close(). Not thread-safe: add
/// objects in on_new_span(), or later under SpanRef::lock(). The layer synchronises access to an object itself.
class Extensions {
 public:
  Extensions() = default;
  Extensions(Extensions const&) = delete;
  Extensions& operator=(Extensions const&) = delete;
  ~Extensions() { clear(); }

  /// Null if there is none. Linear in the number of objects, which is small.
  template <class T>
  T* get() const noexcept {
    if (entries_ == nullptr) return nullptr;
    for (Entry const& entry : *entries_) {
      if (entry.type == &kTypeKey<T>) return static_cast<T*>(entry.object);
    }
    return nullptr;
  }
  /// The object of this type, constructed from `args` if there is none yet.
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
  std::unique_ptr<std::vector<Entry>> entries_;  // most spans have none
};

}  // namespace tracing::inline v1
