// kv(), target(), parent() and threshold(): arguments of the macros besides plain values. Also the compile-time traits
// of all arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tracing_core/emit/format_spec.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/level.h"
#include "tracing_core/model/value_of.h"

#if defined(TRACING_OPTIONAL) && !TRACING_OPTIONAL
#error \
    "TRACING_OPTIONAL is 0, so that this file has statements that do nothing: it cannot include testlog's own as well"
#endif

namespace tracing { inline namespace v1 {

class Span;

namespace internal {

template <class T>
struct KeyValue {
  char const* name;
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
struct ThresholdArgument {
  std::uint64_t ns;
};

}  // namespace internal

/// The field `name` with the value of an expression: `tracing::kv("rows", matrix.rows())`. The name must be a plain
/// string literal. Borrows `value` for the statement.
template <class T>
[[gnu::always_inline]] constexpr internal::KeyValue<T> kv(char const* name, T const& value) noexcept {
  return {name, value};
}

#if defined(__clang__)
// Chosen for arguments that fit no other overload. GCC does not need it: it rejects a void argument before overload
// resolution.
[[clang::unavailable("the field has no value: it is void, or in braces, or there is none")]] internal::KeyValue<int> kv(
    char const* name, ...);
#endif

/// As kv(), with a constant as the name: `inline constexpr char kRows[] = "rows"; ... tracing::kv<kRows>(n)`.
template <auto const& kName, class T>
[[gnu::always_inline]] constexpr internal::ConstantKeyValue<kName, T> kv(T const& value) noexcept {
  return {value};
}

/// Sets the target of this callsite, instead of the enclosing namespace and class. Must be a plain string literal.
constexpr internal::TargetArgument target(char const*) noexcept { return {}; }

/// Sets the parent of this span or event, instead of the current span of the thread; `nullptr` makes it a root.
internal::ParentArgument parent(Span const& span) noexcept;
constexpr internal::ParentArgument parent(SpanId id) noexcept { return {Parent::below(id)}; }
constexpr internal::ParentArgument parent(std::nullptr_t) noexcept { return {Parent::root()}; }

/// An argument of TRACE_PERF: the span reports its end only if it took at least this long, whatever the layers'
/// threshold. Takes any duration of <chrono>. Negative durations and NaN count as zero, durations of more than 584
/// years as 584 years.
template <class Duration>
requires requires { typename Duration::period; }
constexpr internal::ThresholdArgument threshold(Duration const& duration) noexcept {
  using Period = typename Duration::period;
  auto const ns = static_cast<double>(duration.count()) *
                  (1e9 * static_cast<double>(Period::num) / static_cast<double>(Period::den));
  if (!(ns > 0)) return {0};
  constexpr std::uint64_t kMaxNs = ~std::uint64_t{0} - 1;  // the next number means "without a threshold"
  return {ns < static_cast<double>(kMaxNs) ? static_cast<std::uint64_t>(ns + 0.5) : kMaxNs};
}

namespace internal {

enum class ArgumentKind : std::uint8_t { value, key_value, constant_name, target, parent, threshold };

template <class T>
constexpr FormatAs format_of() noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return FormatAs::boolean;
  } else if constexpr (PrintsItself<T> && !DescribesFields<T>) {
    return HasFormatter<T> ? FormatAs::own : FormatAs::nothing;
  } else if constexpr (Text<T> || Utf8Text<T> || WideText<T> || std::is_same_v<T, char> || std::is_same_v<T, char8_t> ||
                       WideCharacter<T>) {
    return FormatAs::text;
  } else if constexpr (Boolean<T>) {
    return FormatAs::boolean;
  } else if constexpr (Atomic<T>) {
    return format_of<typename T::value_type>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return FormatAs::real;
  } else if constexpr (std::is_arithmetic_v<T> || Int128Bit<T>) {
    return FormatAs::integer;
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (NamesEnumerators<T>)
      return FormatAs::text;
    else if constexpr (!EnumPrintsItself<T>)
      return FormatAs::integer;
    else
      return HasFormatter<T> ? FormatAs::own : FormatAs::nothing;
  } else if constexpr (std::is_pointer_v<T> || SmartPointer<T>) {
    return FormatAs::pointer;
  } else if constexpr (FmtPrintable<T> && !Range<T> && !TupleLike<T> && !DescribesFields<T>) {
    return FormatAs::own;
  } else {
    return FormatAs::nothing;
  }
}

template <class T>
constexpr FormatAs format_if_recordable() noexcept {
  if constexpr (Recordable<T>)
    return format_of<std::remove_volatile_t<T>>();
  else
    return FormatAs::nothing;
}

template <class T>
struct ArgumentTraits {
  using Type = T;
  static constexpr ArgumentKind kKind = ArgumentKind::value;
  static constexpr bool kIsRecordable = Recordable<T>;
  static constexpr FormatAs kFormat = format_if_recordable<T>();
  static constexpr std::string_view kName{};
};
template <class T>
struct ArgumentTraits<Wrapped<T, PrintAs::display>> : ArgumentTraits<std::remove_cvref_t<T>> {};
template <class T>
struct ArgumentTraits<KeyValue<T>> : ArgumentTraits<T> {
  static constexpr ArgumentKind kKind = ArgumentKind::key_value;
};
template <auto const& kConstant, class T>
struct ArgumentTraits<ConstantKeyValue<kConstant, T>> : ArgumentTraits<T> {
  static constexpr ArgumentKind kKind = ArgumentKind::constant_name;
  static constexpr std::string_view kName{kConstant};
};
template <>
struct ArgumentTraits<TargetArgument> {
  static constexpr ArgumentKind kKind = ArgumentKind::target;
  static constexpr bool kIsRecordable = true;
  static constexpr FormatAs kFormat = FormatAs::nothing;
  static constexpr std::string_view kName{};
};
template <>
struct ArgumentTraits<ParentArgument> : ArgumentTraits<TargetArgument> {
  static constexpr ArgumentKind kKind = ArgumentKind::parent;
};
template <>
struct ArgumentTraits<ThresholdArgument> : ArgumentTraits<TargetArgument> {
  static constexpr ArgumentKind kKind = ArgumentKind::threshold;
};

// The properties of an argument's type that a statement's metadata depends on.
struct ArgumentInfo {
  ArgumentKind kind = ArgumentKind::value;
  bool is_recordable = true;
  FormatAs format = FormatAs::nothing;
  std::string_view name{};  // the name, if the kind is constant_name
};
template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T>&& ArgumentTraits<T>::kFormat != FormatAs::text;
template <class T>
inline constexpr bool kIsNumber<KeyValue<T>> = kIsNumber<T>;
template <class... A>
struct ArgumentTypes {
  static constexpr std::size_t kCount = sizeof...(A);
  static constexpr bool kAreNumbers = (true && ... && kIsNumber<A>);
  static constexpr ArgumentInfo kInfo[kCount + 1] = {{ArgumentTraits<A>::kKind, ArgumentTraits<A>::kIsRecordable,
                                                      ArgumentTraits<A>::kFormat, ArgumentTraits<A>::kName}...,
                                                     {}};
  // The index of the first argument that cannot be recorded.
  static constexpr std::size_t kUnrecordable = [] {
    std::size_t i = 0;
    while (i != kCount && kInfo[i].is_recordable) ++i;
    return i;
  }();
};

// The type of that argument, for the compiler to print. int if all can be recorded, or if `Types` is not a list of
// types.
template <class Types>
struct Unrecordable {
  using Type = int;
};
template <class... A>
requires(ArgumentTypes<A...>::kUnrecordable < sizeof...(A)) struct Unrecordable<ArgumentTypes<A...> const> {
  using Type =
      typename ArgumentTraits<std::tuple_element_t<ArgumentTypes<A...>::kUnrecordable, std::tuple<A...>>>::Type;
};
template <class Types>
using UnrecordableType = typename Unrecordable<Types const>::Type;

// Never defined, since the macros use only the types of these functions. If a message or a name is missing, the
// compiler's error contains the name of the function.
template <class... A>
ArgumentTypes<A...> an_event_takes_a_message_and_values(char const* message, A const&...);
template <class... A>
ArgumentTypes<A...> this_takes_a_level_and_values(Level, A const&...);
template <class... A>
ArgumentTypes<A...> a_span_takes_a_level_a_name_and_values(Level, char const* name, A const&...);
#if defined(__clang__)
struct WorseMatch {  // a worse match than the functions above
  WorseMatch(char const*);
  WorseMatch(Level);
};
[[clang::unavailable("an argument has no value: it is void, or in braces")]] ArgumentTypes<>
an_event_takes_a_message_and_values(WorseMatch, ...);
[[clang::unavailable("an argument has no value: it is void, or in braces")]] ArgumentTypes<>
this_takes_a_level_and_values(WorseMatch, ...);
[[clang::unavailable("an argument has no value: it is void, or in braces")]] ArgumentTypes<>
a_span_takes_a_level_a_name_and_values(WorseMatch, char const* name, ...);
#endif

// True if a message is an array of constant characters, as it must be.
template <class T>
inline constexpr bool kIsLiteral = false;
template <std::size_t N>
inline constexpr bool kIsLiteral<char const (&)[N]> = true;

// ---- how arguments are passed from the statement to the function that makes them values ----

struct CharArray {
  char const* data;
  std::size_t extent;
};

template <class T>
inline constexpr bool kIsControl =
    std::is_same_v<T, TargetArgument> || std::is_same_v<T, ParentArgument> || std::is_same_v<T, ThresholdArgument>;

// Small objects are passed by value: a user's variable whose address is not taken can stay in a register.
template <class T>
inline constexpr bool kIsPassedByValue =
    std::is_trivially_copyable_v<T>&& std::is_copy_constructible_v<T>&& std::is_trivially_destructible_v<T> &&
    !std::is_array_v<T> && sizeof(T) <= 16;

template <class T>
[[gnu::always_inline]] constexpr decltype(auto) bare([[maybe_unused]] T const& x) noexcept {
  using Plain = std::remove_volatile_t<T>;
  if constexpr (!Recordable<T> && !kIsControl<T>) {
    return Empty();  // the statement's error reports this argument
  } else if constexpr (std::is_function_v<T>) {
    return &x;
  } else if constexpr (std::is_array_v<T>) {
    using Element = std::remove_cv_t<std::remove_extent_t<T>>;
    if constexpr (std::is_same_v<Element, char> && std::extent_v < T >> 0) {
      return CharArray{x, std::extent_v<T>};
    } else if constexpr (NeedsHolding<T>) {
      return Held<T>(x);
    } else {
      return (x);
    }
  } else if constexpr (NeedsHolding<T>) {
    return Held<T>(x);
  } else if constexpr (kIsPassedByValue<Plain>) {
    return static_cast<Plain>(x);
  } else {
    return (x);
  }
}
template <class T>
[[gnu::always_inline]] constexpr decltype(auto) bare(KeyValue<T> const& x) noexcept {
  return bare(x.value);
}
template <auto const& kName, class T>
[[gnu::always_inline]] constexpr decltype(auto) bare(ConstantKeyValue<kName, T> const& x) noexcept {
  return bare(x.value);
}

template <class T>
constexpr Value value_of_bare(T const& x) noexcept {
  if constexpr (std::is_same_v<T, CharArray>) {
    return value_of_chars(x.data, x.extent);
  } else if constexpr (kIsHeld<T>) {
    return x.value();
  } else {
    return value_of(x);
  }
}

}  // namespace internal
}}  // namespace tracing::v1
