// Converts values of C++ types to recorded values: display(), debug(), pretty() and, for the macros, value_of().
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <iosfwd>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

// fmt 9 does not compile with nvcc in C++20 mode; with nvcc types print by operator<<, TRACE_FIELDS and TRACE_ENUM.
#if !defined(__CUDACC__)
#include <fmt/core.h>
#endif

#include "tracing_core/model/debug_writer.h"
#include "tracing_core/model/value.h"

#pragma push_macro("debug")
#undef debug

namespace tracing::inline v1 {

/// The value of a field that has none yet: `tracing::kv("status", tracing::empty)`. Span::record() sets it later.
struct Empty {};
inline constexpr Empty empty{};

namespace internal {

enum class PrintAs { display, debug, pretty };
template <class T, PrintAs kAs>
struct Wrapped {
  T const& value;
};

}  // namespace internal

/// Records `x` in its own printed form, without quotes. Borrows `x` for the statement.
template <class T>
constexpr internal::Wrapped<T, internal::PrintAs::display> display(T const& x) noexcept {
  return {x};
}
/// Records `x` in its debug form, on one line. Borrows `x` for the statement.
template <class T>
constexpr internal::Wrapped<T, internal::PrintAs::debug> debug(T const& x) noexcept {
  return {x};
}
/// As debug(), over several lines.
template <class T>
constexpr internal::Wrapped<T, internal::PrintAs::pretty> pretty(T const& x) noexcept {
  return {x};
}

namespace internal {

// ---- how a type can print ----

template <class T>
concept DescribesFields = requires(T const& x, DebugWriter& writer) { tracing_write_fields(writer, x); };
template <class T>
concept NamesEnumerators = requires(T x) { { tracing_enumerator_name(x) } -> std::same_as<std::string_view>; };
#if !defined(__CUDACC__)
template <class T>
concept FmtPrintable = fmt::is_formattable<T>::value;
#else
template <class T>
concept FmtPrintable = false;
#endif
template <class T>
concept StreamPrintable = requires(std::ostream& os, T const& x) { os << x; };

// The standard library's types do not print themselves: fmt/ranges.h and fmt/std.h give them formatters, but only in files
// that include these headers.
template <class T>
constexpr bool is_standard() noexcept {
  std::string_view const function = __PRETTY_FUNCTION__;  // `... is_standard() [with T = std::vector<int>]`
  return function.find("T = std::") != function.npos || function.find("T=std::") != function.npos;
}
#if !defined(__CUDACC__)
// FmtPrintable first: for a range of itself fmt/ranges.h has a formatter that does not compile, but is not used by fmt.
template <class T>
concept HasFormatter = FmtPrintable<T> && std::is_default_constructible_v<fmt::formatter<T, char>>;
#else
template <class T>
concept HasFormatter = false;
#endif
// Converts to T alone, so that no operator fits that takes what T converts to.
template <class T>
struct OnlyConvertsTo {
  operator T const&() const;
};
template <class T>
concept HasStreamFunctionOfItsOwn = requires(std::ostream& os, OnlyConvertsTo<T> const& x) { operator<<(os, x); };
// A type that converts to bool or to a pointer can always be streamed, as what it converts to.
template <class T>
concept HasStreamOperator =
    StreamPrintable<T> && (!std::convertible_to<T const&, bool> || HasStreamFunctionOfItsOwn<T>);
// Any unscoped enumeration can be streamed as an integer; in this form the call fits only an operator of its own.
template <class T>
concept HasStreamFunction = requires(std::ostream& os, T const& x) { operator<<(os, x); };
template <class T>
concept EnumPrintsItself = HasFormatter<T> || HasStreamFunction<T> ||
                           (!std::is_convertible_v<T, long long> && (FmtPrintable<T> || StreamPrintable<T>));
// A class with a formatter or an operator<< of its own, which are preferred to what can be made of a container or a text.
template <class T>
concept PrintsItself = std::is_class_v<T> && !is_standard<T>() && (HasFormatter<T> || HasStreamOperator<T>);

template <class T>
concept Text = std::convertible_to<T const&, std::string_view> && !std::is_null_pointer_v<T>;
template <class T>
concept Range = requires(T const& x) {
  x.begin();
  x.end();
  requires !std::same_as<std::remove_cvref_t<decltype(*x.begin())>, T>;
};
template <class T>
concept Map = Range<T> && requires { typename T::mapped_type; };
template <class T>
concept Set = Range<T> && requires { typename T::key_type; } && !Map<T>;
template <class T>
concept ByteRange = requires(T const& x) {
  { x.data() };
  { x.size() } -> std::convertible_to<std::size_t>;
  requires sizeof(*x.data()) == 1;
  requires std::same_as<std::remove_cvref_t<decltype(*x.data())>, std::byte> ||
               std::same_as<std::remove_cvref_t<decltype(*x.data())>, unsigned char>;
};
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; } && !Range<T>;
template <class T>
concept Optional = requires(T const& x) {
  { x.has_value() } -> std::same_as<bool>;
  *x;
};
template <class T>
concept SmartPointer = requires(T const& x) {
  { x.get() } -> std::convertible_to<void const*>;
  typename T::element_type;
};
template <class T>
inline constexpr bool kIsWrapped = false;
template <class T, PrintAs kAs>
inline constexpr bool kIsWrapped<Wrapped<T, kAs>> = true;

template <class T>
concept Int128Bit = std::same_as<T, Value::Int128> || std::same_as<T, Value::Uint128>;

// In the same order as value_of(). The elements of a container must be recordable, too.
template <class T>
constexpr bool is_recordable() noexcept;
template <class T, std::size_t... kIndex>
constexpr bool all_elements_recordable(std::index_sequence<kIndex...>) noexcept {
  return (is_recordable<std::remove_cvref_t<std::tuple_element_t<kIndex, T>>>() && ...);
}
template <class T>
constexpr bool is_recordable() noexcept {
  if constexpr (std::is_arithmetic_v<T> || Int128Bit<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T> ||
                std::is_enum_v<T> || std::is_function_v<T> || std::is_same_v<T, Value> || std::is_same_v<T, Empty>) {
    return true;
  } else if constexpr (DescribesFields<T> || PrintsItself<T> || Text<T> || kIsWrapped<T> || std::derived_from<T, std::exception> ||
                       std::is_same_v<T, std::error_code> || std::is_same_v<T, std::exception_ptr>) {
    return true;
  } else if constexpr (std::is_array_v<T>) {
    return is_recordable<std::remove_cv_t<std::remove_extent_t<T>>>();
  } else if constexpr (ByteRange<T>) {
    return true;
  } else if constexpr (Optional<T>) {
    return is_recordable<std::remove_cvref_t<decltype(*std::declval<T const&>())>>();
  } else if constexpr (SmartPointer<T>) {
    return true;
  } else if constexpr (Map<T>) {
    return is_recordable<std::remove_cv_t<typename T::key_type>>() &&
           is_recordable<std::remove_cv_t<typename T::mapped_type>>();
  } else if constexpr (Range<T>) {
    return is_recordable<std::remove_cvref_t<decltype(*std::declval<T const&>().begin())>>();
  } else if constexpr (TupleLike<T>) {
    return all_elements_recordable<T>(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return FmtPrintable<T> || StreamPrintable<T>;
  }
}
template <class T>
concept Recordable = is_recordable<T>();

// ---- printing by fmt and by operator<<, out of line ----

#if !defined(__CUDACC__)
void append_fmt(TextBuffer& out, std::string_view spec, fmt::format_args args) noexcept;
#endif
void append_stream(TextBuffer& out, void const* object, void (*print)(std::ostream& os, void const* object)) noexcept;

template <class T>
void print_plain(TextBuffer& out, T const& x, [[maybe_unused]] std::string_view spec) noexcept {
  if constexpr (Range<T> && HasStreamOperator<T>) {
    // fmt/ranges.h has a formatter for every range, so where it is included a formatter need not be the type's own.
    if (!FmtPrintable<T> || spec.empty()) {
      return append_stream(out, &x, [](std::ostream& os, void const* object) { os << *static_cast<T const*>(object); });
    }
  }
  if constexpr (FmtPrintable<T> && (HasFormatter<T> || !StreamPrintable<T>)) {
#if !defined(__CUDACC__)
    append_fmt(out, spec, fmt::make_format_args(x));
#endif
  } else {
    append_stream(out, &x, [](std::ostream& os, void const* object) { os << *static_cast<T const*>(object); });
  }
}

template <class T>
constexpr Value value_of(T const& x) noexcept;

template <class T>
void write_debug(DebugWriter& writer, T const& x) noexcept;

template <class T>
void write_items(DebugWriter& writer, T const& x) noexcept {
  for (auto const& element : x) {
    writer.item();
    if constexpr (Map<T>) {
      write_debug(writer, element.first);
      writer.mapped();
      write_debug(writer, element.second);
    } else {
      write_debug(writer, element);
    }
  }
}

template <class T>
void write_plain(DebugWriter& writer, T const& x) noexcept {
  InlineTextBuffer<256> text;
  print_plain(text, x, {});
  writer.raw(text.view());
}

// Writes the structure of `x`, which value_of() would wrap again.
template <class T>
void write_structure(DebugWriter& writer, T const& x) noexcept {
  if constexpr (DescribesFields<T>) {
    tracing_write_fields(writer, x);
  } else if constexpr (PrintsItself<T>) {
    write_plain(writer, x);
  } else if constexpr (std::is_array_v<T>) {
    writer.begin('[');
    write_items(writer, x);
    writer.end();
  } else if constexpr (Range<T>) {
    writer.begin(Map<T> || Set<T> ? '{' : '[');
    write_items(writer, x);
    writer.end();
  } else if constexpr (TupleLike<T>) {
    writer.begin('(');
    if constexpr (std::tuple_size_v<T> == 2) {
      auto const& [key, value] = x;
      writer.item();
      write_debug(writer, key);
      writer.keyed_item();
      write_debug(writer, value);
    } else {
      std::apply([&](auto const&... element) { ((writer.item(), write_debug(writer, element)), ...); }, x);
    }
    writer.end();
  } else {
    write_plain(writer, x);
  }
}

template <class T>
void write_debug(DebugWriter& writer, T const& x) noexcept {
  writer.value(value_of(x));
}

template <class T>
inline constexpr CustomType kCustomType{
    [](void const* object, DebugWriter& writer) { write_structure(writer, *static_cast<T const*>(object)); },
    [](void const* object, TextBuffer& out, [[maybe_unused]] std::string_view spec) {
      T const& x = *static_cast<T const*>(object);
      if constexpr (!DescribesFields<T> &&
                    (PrintsItself<T> || (!std::is_array_v<T> && !Range<T> && !TupleLike<T> &&
                                         (FmtPrintable<T> || StreamPrintable<T>)))) {
        print_plain(out, x, spec);
      } else {
        DebugWriter writer(out, false);
        write_structure(writer, x);
      }
    }};

// display(x): the form of x in a message.
template <class T>
inline constexpr CustomType kDisplayType{
    [](void const* object, DebugWriter& writer) {
      InlineTextBuffer<256> text;
      append_formatted(text, value_of(*static_cast<T const*>(object)), {});
      writer.raw(text.view());
    },
    [](void const* object, TextBuffer& out, std::string_view spec) {
      append_formatted(out, value_of(*static_cast<T const*>(object)), spec);
    }};

// debug(x) and pretty(x): the debug form of a value that would print otherwise.
template <class T, bool kPretty>
inline constexpr CustomType kDebugType{
    [](void const* object, DebugWriter& writer) { write_debug(writer, *static_cast<T const*>(object)); },
    [](void const* object, TextBuffer& out, std::string_view) {
      DebugWriter writer(out, kPretty);
      write_debug(writer, *static_cast<T const*>(object));
    }};

template <class T, PrintAs kAs>
constexpr Value value_of_wrapped(Wrapped<T, kAs> const& x) noexcept {
  if constexpr (kAs == PrintAs::debug) {
    return Value::of_custom(&x.value, kDebugType<T, false>);
  } else if constexpr (kAs == PrintAs::pretty) {
    return Value::of_custom(&x.value, kDebugType<T, true>).as_pretty();
  } else if constexpr (Text<T> && !DescribesFields<T> && !PrintsItself<T>) {
    Value const text = value_of(x.value);
    return text.is_empty() ? text : Value::of_verbatim(text.as_text());
  } else {
    return Value::of_custom(&x.value, kDisplayType<T>);
  }
}

template <class T>
constexpr Value value_of_enum(T const& x) noexcept {
  if constexpr (NamesEnumerators<T>) {
    std::string_view const name = tracing_enumerator_name(x);
    if (name.data() != nullptr) return Value::of_verbatim(name);
    return value_of(static_cast<std::underlying_type_t<T>>(x));
  } else if constexpr (EnumPrintsItself<T>) {
    return Value::of_custom(&x, kCustomType<T>);
  } else {
    return value_of(static_cast<std::underlying_type_t<T>>(x));
  }
}

template <class T>
constexpr Value value_of_number(T const& x) noexcept {
  if constexpr (std::same_as<T, bool>) {
    return Value::of_bool(x);
  } else if constexpr (std::same_as<T, float>) {
    return Value::of_f32(x);
  } else if constexpr (std::floating_point<T>) {
    return Value::of_f64(static_cast<double>(x));
  } else if constexpr (std::is_signed_v<T>) {
    return Value::of_i64(x);
  } else {
    return Value::of_u64(x);
  }
}

// The text in an array: up to a NUL, or all of it.
constexpr Value value_of_chars(char const* data, std::size_t size) noexcept {
  std::string_view const all(data, size);
  return Value::of_text(all.substr(0, all.find('\0')));
}

template <class T>
constexpr Value value_of_text(T const& x) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    if (x == nullptr) return Value();
    return Value::of_text(std::string_view(x));
  } else if constexpr (std::is_array_v<T>) {
    return value_of_chars(x, std::extent_v<T>);
  } else {
    return Value::of_text(static_cast<std::string_view>(x));
  }
}

/// The recorded value of `x`, which it borrows.
template <class T>
constexpr Value value_of(T const& x) noexcept {
  using Plain = std::remove_volatile_t<T>;
  if constexpr (std::same_as<Plain, Value>) {
    return x;
  } else if constexpr (std::same_as<Plain, Empty> || std::is_null_pointer_v<Plain>) {
    return Value();
  } else if constexpr (std::same_as<Plain, char>) {
    return Value::of_text(std::string_view(const_cast<char const*>(&x), 1));
  } else if constexpr (std::same_as<Plain, Value::Int128>) {
    return Value::of_i128(x);
  } else if constexpr (std::same_as<Plain, Value::Uint128>) {
    return Value::of_u128(x);
  } else if constexpr (std::is_arithmetic_v<Plain>) {
    return value_of_number<Plain>(x);
  } else if constexpr (kIsWrapped<Plain>) {
    return value_of_wrapped(x);
  } else if constexpr (std::derived_from<Plain, std::exception>) {
#if defined(__cpp_rtti)
    return Value::of_error(x);
#else
    return Value::of_plain_error(x);
#endif
  } else if constexpr (std::same_as<Plain, std::error_code> || std::same_as<Plain, std::exception_ptr>) {
    return Value::of_error(x);
  } else if constexpr (DescribesFields<Plain> || PrintsItself<Plain>) {
    return Value::of_custom(&x, kCustomType<Plain>);
  } else if constexpr (Text<Plain>) {
    return value_of_text(x);
  } else if constexpr (std::is_enum_v<Plain>) {
    return value_of_enum<Plain>(x);
  } else if constexpr (std::is_function_v<Plain>) {
    return Value::of_pointer(reinterpret_cast<void const*>(&x));
  } else if constexpr (std::is_pointer_v<Plain>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<Plain>>) {
      return Value::of_pointer(reinterpret_cast<void const*>(x));
    } else {
      return Value::of_pointer(const_cast<void const*>(static_cast<void const volatile*>(x)));
    }
  } else if constexpr (ByteRange<Plain>) {
    return Value::of_bytes(x.data(), x.size());
  } else if constexpr (Optional<Plain>) {
    return x.has_value() ? value_of(*x) : Value();
  } else if constexpr (SmartPointer<Plain>) {
    return x.get() == nullptr ? Value() : Value::of_pointer(x.get());
  } else {
    return Value::of_custom(&x, kCustomType<Plain>);
  }
}

template <class T>
void write_field(DebugWriter& writer, std::string_view name, T const& x) noexcept {
  writer.field(name);
  write_debug(writer, x);
}

}  // namespace internal
}  // namespace tracing::inline v1

#pragma pop_macro("debug")
