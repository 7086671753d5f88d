// thread_object(): an object of each thread, made when the thread first needs it.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {

template <class T>
struct ThreadObject {
  // Separate from the destructor, so that a read needs no check whether it is registered.
  static inline constinit thread_local T* object = nullptr;
  static inline constinit thread_local bool is_gone = false;

  ~ThreadObject() {
    is_gone = true;
    delete std::exchange(object, nullptr);
  }
};

template <class T>
[[gnu::noinline]] T* make_thread_object() noexcept {
  if (ThreadObject<T>::is_gone) return nullptr;
  try {
    auto made = std::make_unique<T>();
    static thread_local ThreadObject<T> const at_thread_exit;
    (void)&at_thread_exit;
    ThreadObject<T>::object = made.release();
  } catch (...) {  // out of memory
  }
  return ThreadObject<T>::object;
}

// Returns the calling thread's object. Returns null while the thread ends, or if memory ran out.
template <class T>
T* thread_object() noexcept {
  T* const object = ThreadObject<T>::object;
  return object != nullptr ? object : make_thread_object<T>();
}

}}}}  // namespace tracing::v1::bridge::nvtx
