// append_function_name(): mangled names for people, in the handler of a fatal signal.
#pragma once

#include <string_view>

namespace testlog::inline v1 {

/// Where the pieces of a name go.
using AppendPiece = void (*)(void* context, std::string_view piece);

/// `(anonymous namespace)::Pool<...>::take` of `_ZN12_GLOBAL__N_14PoolIiE4takeEv`: names without arguments, but with the lambdas
/// among template arguments, `std::_Function_handler<Server::run::{lambda#3}>::_M_invoke`. Names that it does not understand are
/// appended as they are. Async-signal-safe.
/// Source: the mangling of the Itanium C++ ABI.
void append_function_name(std::string_view mangled, AppendPiece append, void* context) noexcept;

template <class F>
void append_function_name(std::string_view mangled, F&& append) noexcept {
  append_function_name(mangled, [](void* to, std::string_view piece) { (*static_cast<F*>(to))(piece); }, &append);
}

}  // namespace testlog::inline v1
