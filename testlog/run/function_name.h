// append_function_name(): makes mangled names readable, in the handler of a fatal signal.
#pragma once

#include <string_view>

namespace testlog { inline namespace v1 {

/// Receives the pieces of a name.
using AppendPiece = void (*)(void* context, std::string_view piece);

/// Appends `(anonymous namespace)::Pool<...>::take` for `_ZN12_GLOBAL__N_14PoolIiE4takeEv`: the name without arguments,
/// but with the lambdas among template arguments, as in `std::_Function_handler<Server::run::{lambda#3}>::_M_invoke`.
/// Appends a name that it does not understand as it is. Async-signal-safe. Source: the mangling of the Itanium C++ ABI.
void append_function_name(std::string_view mangled, AppendPiece append, void* context) noexcept;

template <class F>
void append_function_name(std::string_view mangled, F&& append) noexcept {
  append_function_name(
      mangled, [](void* to, std::string_view piece) { (*static_cast<F*>(to))(piece); }, &append);
}

}}  // namespace testlog::v1
