// NeverDestroyed: a global that is usable before the first static initialiser and after the last static destructor.
#pragma once

#include <utility>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Holds a T that is constant-initialised and never destroyed, so that static constructors and destructors on any
/// thread may use it.
template <class T>
class NeverDestroyed {
 public:
  template <class... A>
  constexpr explicit NeverDestroyed(A&&... args) : value_(std::forward<A>(args)...) {}
  constexpr ~NeverDestroyed() {}

  constexpr T* operator->() noexcept { return &value_; }
  constexpr T& operator*() noexcept { return value_; }

 private:
  union {
    T value_;
  };
};

}}}  // namespace tracing::v1::support
