// Declares what a macro's arguments may be besides plain values: kv(), target(), parent(), and their compile-time kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tracing_core/model/ids.h"
#include "tracing_core/model/value_of.h"

namespace tracing::inline v1 {

class Span;

namespace internal {

template <class T>
struct KeyValue {
  std::string_view name;
  T const& value;
};
template <auto const& kName, class T>
struct ConstantKeyValue {
  T const& value;
};
struct TargetArgument {};
struct ParentArgument {
  Parent parent;
};

}  // namespace internal

/// The field `name` with the value of an expression: `tracing::kv("rows", matrix.rows())`. The name must be a plain
/// literal. Borrows `value` for the statement.
template <std::size_t N, class T>
constexpr internal::KeyValue<T> kv(char const (&name)[N], T const& value) noexcept {
  return {std::string_view(name, N - 1), value};
}

/// As kv() with a name that is a constant: `inline constexpr char kRows[] = "rows"; ... tracing::kv<kRows>(n)`.
template <auto const& kName, class T>
constexpr internal::ConstantKeyValue<kName, T> kv(T const& value) noexcept {
  return {value};
}

/// The target of this callsite, instead of the enclosing namespace and class. A plain literal.
template <std::size_t N>
constexpr internal::TargetArgument target(char const (&)[N]) noexcept {
  return {};
}

/// What this span or event stands below, instead of the span that the thread is in; `nullptr` is nothing.
internal::ParentArgument parent(Span const& span) noexcept;
constexpr internal::ParentArgument parent(SpanId id) noexcept { return {Parent::below(id)}; }
constexpr internal::ParentArgument parent(std::nullptr_t) noexcept { return {Parent::root()}; }

namespace internal {

enum class ArgumentKind : std::uint8_t { value, key_value, constant_name, target, parent };

template <class T>
struct ArgumentTraits {
  static constexpr ArgumentKind kKind = ArgumentKind::value;
  static constexpr bool kRecordable = Recordable<std::remove_volatile_t<T>>;
  static constexpr std::string_view name() noexcept { return {}; }
};
template <class T>
struct ArgumentTraits<KeyValue<T>> : ArgumentTraits<T> {
  static constexpr ArgumentKind kKind = ArgumentKind::key_value;
};
template <auto const& kName, class T>
struct ArgumentTraits<ConstantKeyValue<kName, T>> : ArgumentTraits<T> {
  static constexpr ArgumentKind kKind = ArgumentKind::constant_name;
  static constexpr std::string_view name() noexcept { return std::string_view(kName); }
};
template <>
struct ArgumentTraits<TargetArgument> {
  static constexpr ArgumentKind kKind = ArgumentKind::target;
  static constexpr bool kRecordable = true;
  static constexpr std::string_view name() noexcept { return {}; }
};
template <>
struct ArgumentTraits<ParentArgument> : ArgumentTraits<TargetArgument> {
  static constexpr ArgumentKind kKind = ArgumentKind::parent;
};

// The types of a statement's arguments, as far as its metadata depends on them.
struct ArgumentInfo {
  ArgumentKind kind = ArgumentKind::value;
  bool recordable = true;
  std::string_view name{};  // of a constant_name
};
template <class... A>
struct ArgumentTypes {
  static constexpr std::size_t kCount = sizeof...(A);
  static constexpr ArgumentInfo kInfo[kCount + 1] = {
      {ArgumentTraits<A>::kKind, ArgumentTraits<A>::kRecordable, ArgumentTraits<A>::name()}..., {}};
};

// Never defined: the macros ask for its type only. The first argument of an event is its message.
template <class... A>
ArgumentTypes<A...> argument_types(A const&...);
template <class M, class... A>
ArgumentTypes<A...> argument_types_behind_first(M const&, A const&...);
template <class L, class N, class... A>
ArgumentTypes<A...> argument_types_behind_two(L const&, N const&, A const&...);

template <class T>
inline constexpr bool kIsControl = std::is_same_v<T, TargetArgument> || std::is_same_v<T, ParentArgument>;

template <class T>
[[gnu::always_inline]] constexpr Value value_of_argument(T const& x) noexcept {
  return value_of(x);
}
template <class T>
[[gnu::always_inline]] constexpr Value value_of_argument(KeyValue<T> const& x) noexcept {
  return value_of(x.value);
}
template <auto const& kName, class T>
[[gnu::always_inline]] constexpr Value value_of_argument(ConstantKeyValue<kName, T> const& x) noexcept {
  return value_of(x.value);
}

}  // namespace internal
}  // namespace tracing::inline v1
