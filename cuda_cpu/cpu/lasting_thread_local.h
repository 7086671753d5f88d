// Declares state of a thread that destructors of static objects can still use.
#pragma once

#include <cstddef>
#include <new>

namespace cuda_cpu::cpu {

/// Returns the T of this thread. When the thread ends, T::end() releases its resources, but the object stays usable:
/// destructors of static objects run after the destructors of thread_local objects, and a program's pool may free its
/// memory in one.
template <class T>
T& lasting_thread_local() noexcept {
  alignas(T) static thread_local std::byte storage[sizeof(T)];
  struct Lifetime {
    Lifetime() { ::new (storage) T; }
    ~Lifetime() { std::launder(reinterpret_cast<T*>(storage))->end(); }
  };
  static thread_local Lifetime const lifetime;
  return *std::launder(reinterpret_cast<T*>(storage));
}

}  // namespace cuda_cpu::cpu
