// Declares whether an object's class was compiled with type information, without which dynamic_cast may not be asked of it.
#pragma once

#include <cstring>

namespace tracing::inline v1::internal {

// Consumers may be compiled with -fno-rtti. By the C++ ABI of GCC and Clang the type's description stands in front of the
// virtual functions. REQUIRES: the class has virtual functions.
inline bool has_type_information(void const* object) noexcept {
  void const* const* functions = nullptr;
  std::memcpy(&functions, object, sizeof(functions));
  return functions[-1] != nullptr;
}

}  // namespace tracing::inline v1::internal
