// lazy() makes a range whose elements are computed when they are read. Used instead of std::views::transform, which
// Clang 14 cannot compile.
#pragma once

namespace tracing_test {

/// The results of `f(0)`, `f(1)`, ..., `f(count - 1)`, each computed when its iterator is dereferenced.
template <class F>
struct Lazy {
  int count;
  F f;
  struct Iterator {
    int i;
    F const* f;
    auto operator*() const { return (*f)(i); }
    Iterator& operator++() { return ++i, *this; }
    bool operator==(Iterator const&) const = default;
  };
  Iterator begin() const { return {0, &f}; }
  Iterator end() const { return {count, &f}; }
};

template <class F>
Lazy<F> lazy(int count, F f) {
  return {count, f};
}

}  // namespace tracing_test
