// Converts values of C++ types to recorded values: display(), debug(), pretty() and, for the macros, value_of().
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <iosfwd>
#include <new>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

// nvcc cannot compile fmt 9 in C++20 mode; with nvcc types print by operator<<, TRACE_FIELDS and TRACE_ENUM.
#if !defined(__CUDACC__)
#include <fmt/core.h>
#endif

#include "tracing_core/model/debug_writer.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/model/value.h"
#include "tracing_core/model/wide_text.h"

#pragma push_macro("debug")
#undef debug

namespace tracing { inline namespace v1 {

/// The value of a field that gets its value later: `tracing::kv("status", tracing::empty)`. Span::record() sets it.
struct Empty {};
inline constexpr Empty empty{};

namespace internal {

enum class PrintAs { display, debug, pretty };
// A value to print in another form. `T` is a constant reference, or the type of a temporary.
template <class T, PrintAs kAs>
struct Wrapped {
  T value;
};
// The type in which an argument `T&&` is kept.
template <class T>
using Kept = std::conditional_t<std::is_lvalue_reference_v<T> || std::is_array_v<T>, std::remove_reference_t<T> const&,
                                std::remove_cv_t<T>>;

}  // namespace internal

/// Records `x` in its own printed form, without quotes. Borrows `x`; keeps a temporary, which must be movable.
template <class T>
constexpr internal::Wrapped<internal::Kept<T>, internal::PrintAs::display> display(T&& x) noexcept(
    std::is_nothrow_constructible_v<internal::Kept<T>, T>) {
  return {std::forward<T>(x)};
}
/// Records `x` in its debug form, on one line. Borrows `x`; keeps a temporary, which must be movable.
template <class T>
constexpr internal::Wrapped<internal::Kept<T>, internal::PrintAs::debug> debug(T&& x) noexcept(
    std::is_nothrow_constructible_v<internal::Kept<T>, T>) {
  return {std::forward<T>(x)};
}
/// As debug(), over several lines.
template <class T>
constexpr internal::Wrapped<internal::Kept<T>, internal::PrintAs::pretty> pretty(T&& x) noexcept(
    std::is_nothrow_constructible_v<internal::Kept<T>, T>) {
  return {std::forward<T>(x)};
}

namespace internal {

// ---- how a type can print ----

template <class T>
concept HasFieldsFunction = requires(T const& x, DebugWriter& writer) {
  tracing_write_fields(writer, x);
};
template <class T>
concept HasFieldsMember = requires(T& x, DebugWriter& writer) {
  x.tracing_write_fields(writer, x);
};
template <class T>
concept DescribesFields = HasFieldsFunction<T> || HasFieldsMember<T>;
template <class T>
concept NamesEnumerators = requires(T x) {
  { tracing_enumerator_name(x) } -> std::same_as<std::string_view>;
};
#if !defined(__CUDACC__)
template <class T>
concept FmtPrintable = fmt::is_formattable<T>::value;
#else
template <class T>
concept FmtPrintable = false;
#endif
template <class T>
concept StreamPrintable = requires(std::ostream& os, T const& x) {
  os << x;
};

// True for the standard library's types, which do not print themselves: fmt/ranges.h and fmt/std.h give them
// formatters, but only in files that include these headers.
template <class T>
constexpr bool is_standard() noexcept {
  std::string_view const function = __PRETTY_FUNCTION__;  // `... is_standard() [with T = std::vector<int>]`
  return function.find("T = std::") != function.npos || function.find("T=std::") != function.npos;
}
#if !defined(__CUDACC__)
// Tests FmtPrintable first: if a range's elements have the range's own type, fmt/ranges.h has a formatter that does not
// compile, though fmt never uses it.
template <class T>
concept HasFormatter = FmtPrintable<T> && std::is_default_constructible_v<fmt::formatter<T, char>>;
#else
template <class T>
concept HasFormatter = false;
#endif
// Converts to T only. An operator<< for another type, to which T itself converts, does not accept it.
template <class T>
struct OnlyConvertsTo {
  operator T const&() const;
};
template <class T>
concept HasStreamFunctionOfItsOwn = requires(std::ostream& os, OnlyConvertsTo<T> const& x) {
  operator<<(os, x);
};
// A type that converts to bool or to a pointer can always be streamed as a bool or a pointer, so it must have an
// operator<< of its own.
template <class T>
concept HasStreamOperator = StreamPrintable<T> &&(!std::convertible_to<T const&, bool> || HasStreamFunctionOfItsOwn<T>);
// Any unscoped enumeration can be streamed as an integer; the call `operator<<(os, x)` finds only an operator for the
// enumeration.
template <class T>
concept HasStreamFunction = requires(std::ostream& os, T const& x) {
  operator<<(os, x);
};
// The call `operator<<(os, x)` takes even an enumeration for a character if its underlying type is a byte. ConvertsTo
// prevents this: it converts to T, but not to the types that T converts to.
template <class T>
struct ConvertsTo {
  template <std::same_as<T> Target>
  operator Target() const;
};
template <class T>
concept IsUnscopedByte = std::is_convertible_v<T, long long> && sizeof(T) == 1;
template <class T>
concept EnumHasStreamFunction = HasStreamFunction<T> &&
    (!IsUnscopedByte<T> || requires(std::ostream & os, ConvertsTo<T> const& x) { operator<<(os, x); });
template <class T>
concept EnumPrintsItself = HasFormatter<T> || EnumHasStreamFunction<T> ||
    (!std::is_convertible_v<T, long long> && (FmtPrintable<T> || StreamPrintable<T>));
// A class with a formatter or an operator<< of its own. This form is preferred to the form of a container or a text.
template <class T>
concept PrintsItself = std::is_class_v<T> && !is_standard<T>() && (HasFormatter<T> || HasStreamOperator<T>);

// A type with TRACE_FIELDS, or a class that prints itself. Every other type prints by its category, such as container
// or text.
template <class T>
concept HasOwnForm = DescribesFields<T> || PrintsItself<T>;

template <class T, class Character>
concept TextOf = std::convertible_to<T const&, std::basic_string_view<Character>> && !std::is_null_pointer_v<T>;
template <class T>
concept Text = TextOf<T, char>;
template <class T>
concept Utf8Text = TextOf<T, char8_t> && !HasOwnForm<T> && !Text<T>;
template <class T>
concept WideCharacter = std::same_as<T, wchar_t> || std::same_as<T, char16_t> || std::same_as<T, char32_t>;
template <class T>
concept WideText = (TextOf<T, wchar_t> || TextOf<T, char16_t> || TextOf<T, char32_t>)&&!HasOwnForm<T> && !Text<T>;
template <class T>
concept Range = requires(T const& x) {
  x.begin();
  x.end();
  requires !std::same_as<std::remove_cvref_t<decltype(*x.begin())>, T>;
};
template <class T>
concept Map = Range<T> && requires {
  typename T::mapped_type;
};
template <class T>
concept Set = Range<T> && requires {
  typename T::key_type;
} && !Map<T>;
template <class T>
concept ByteRange = requires(T const& x) {
  {x.data()};
  { x.size() } -> std::convertible_to<std::size_t>;
  requires sizeof(*x.data()) == 1;
  requires std::same_as<std::remove_cvref_t<decltype(*x.data())>, std::byte> ||
      std::same_as < std::remove_cvref_t<decltype(*x.data())>,
  unsigned char > ;
};
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
}
&&!Range<T>;
template <class T>
concept Optional = requires(T const& x) {
  { x.has_value() } -> std::same_as<bool>;
  *x;
};
template <class T>
concept Atomic = std::is_class_v<T> && !HasOwnForm<T> && requires(T const& x) {
  { x.load() } -> std::same_as<typename T::value_type>;
  x.is_lock_free();
};
template <class T>
concept SmartPointer = requires(T const& x) {
  { x.get() } -> std::convertible_to<void const*>;
  typename T::element_type;
};
// A class that converts to bool directly, not by way of a number or a pointer: a reference to a bit, std::true_type.
template <class T>
concept Boolean = std::is_class_v<T> && requires(T const& x, void (*take)(bool)) {
  take({x});
} && !HasOwnForm<T> && !Text<T> && !Atomic<T> && !ByteRange<T> && !Optional<T> && !SmartPointer<T> && !Range<T>;
template <class T>
inline constexpr bool kIsWrapped = false;
template <class T, PrintAs kAs>
inline constexpr bool kIsWrapped<Wrapped<T, kAs>> = true;

template <class T>
concept Int128Bit = std::same_as<T, Value::Int128> || std::same_as<T, Value::Uint128>;

template <class T>
concept Incomplete = (std::is_class_v<T> || std::is_union_v<T>)&&!requires {
  sizeof(T);
};

// Tests the categories in the same order as value_of(). The elements of a container must be recordable, too.
template <class T>
constexpr bool is_recordable() noexcept;
template <class T, std::size_t... kIndex>
constexpr bool all_elements_recordable(std::index_sequence<kIndex...>) noexcept {
  return (is_recordable<std::remove_cvref_t<std::tuple_element_t<kIndex, T>>>() && ...);
}
template <class T>
constexpr bool is_recordable() noexcept {
  if constexpr (Incomplete<T>) {
    return false;
  } else if constexpr (std::is_volatile_v<T>) {  // a volatile object can only be copied
    using Plain = std::remove_volatile_t<T>;
    return (std::is_scalar_v<Plain> || Int128Bit<Plain> || Atomic<T>)&&is_recordable<Plain>();
  } else if constexpr (kIsWrapped<T>) {
    return is_recordable<std::remove_cvref_t<decltype(T::value)>>();
  } else if constexpr (std::is_arithmetic_v<T> || Int128Bit<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T> ||
                       std::is_enum_v<T> || std::is_function_v<T> || std::is_same_v<T, Value> ||
                       std::is_same_v<T, Empty>) {
    return true;
  } else if constexpr (HasOwnForm<T> || Text<T> || Utf8Text<T> || WideText<T> || Boolean<T> ||
                       std::derived_from<T, std::exception> || std::is_same_v<T, std::error_code> ||
                       std::is_same_v<T, std::exception_ptr>) {
    return true;
  } else if constexpr (Atomic<T>) {
    return is_recordable<typename T::value_type>();
  } else if constexpr (std::is_array_v<T>) {
    return std::is_bounded_array_v<T> && is_recordable<std::remove_cv_t<std::remove_extent_t<T>>>();
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
    // If fmt/ranges.h is included, it gives every range a formatter. So the formatter need not be the type's own.
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

// True if the value refers to something that is made from the object: the content that an optional returns by value,
// the value that an atomic variable holds, the UTF-8 of wide text. Such a type has no value_of(); Held keeps the thing
// and its value. In this way the types ensure that no value refers to a temporary: value_of() borrows its argument and
// refuses temporaries, and a temporary Held refuses to give its value.
template <class T>
constexpr bool needs_holding() noexcept {
  if constexpr (HasOwnForm<T> || Text<T>) {
    return false;
  } else if constexpr (Atomic<T> || WideText<T> || WideCharacter<std::remove_cv_t<T>>) {
    return true;
  } else if constexpr (Optional<T>) {
    using Content = decltype(*std::declval<T const&>());
    return !std::is_lvalue_reference_v<Content> || needs_holding<std::remove_cvref_t<Content>>();
  } else {
    return false;
  }
}
template <class T>
concept NeedsHolding = needs_holding<T>();

template <class T>
requires(!NeedsHolding<T>) constexpr Value value_of(T const& x) noexcept;
template <class T>
Value value_of(T const&& x) = delete;

// Holds the value of an object, and the thing that the value refers to. A temporary Held does not give its value.
template <class T>
class Held {
  static_assert(
      Recordable<T>,
      "the type named below cannot be recorded; give it fmt::formatter, operator<<, TRACE_FIELDS (inside a class: "
      "friend TRACE_FIELDS) or TRACE_ENUM");

 public:
  constexpr explicit Held(T const& x) noexcept : value_(value_of(x)) {}
  explicit Held(T const&&) = delete;
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  constexpr Value value() const& noexcept { return value_; }
  Value value() const&& = delete;

 private:
  Value value_;
};

// Holds a wide text, or one wide character, as UTF-8.
template <class T>
requires WideText<T> || WideCharacter<std::remove_cv_t<T>>
class Held<T> {
 public:
  explicit Held(T const& x) noexcept {
    if constexpr (WideCharacter<std::remove_cv_t<T>>) {
      std::remove_cv_t<T> const character = x;
      append_utf8(text_, std::basic_string_view(&character, 1));
    } else if constexpr (TextOf<T, wchar_t>) {
      append<wchar_t>(x);
    } else if constexpr (TextOf<T, char16_t>) {
      append<char16_t>(x);
    } else {
      append<char32_t>(x);
    }
  }
  Value value() const& noexcept { return is_null_ ? Value() : Value::of_text(text_.view()); }
  Value value() const&& = delete;

 private:
  template <class Character>
  void append(T const& x) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      if (x == nullptr) {
        is_null_ = true;
        return;
      }
    }
    if constexpr (std::is_bounded_array_v<T>) {
      std::basic_string_view<Character> const all(x, std::extent_v<T>);
      append_utf8(text_, all.substr(0, all.find(Character())));
    } else {
      append_utf8(text_, static_cast<std::basic_string_view<Character>>(x));
    }
  }

  InlineTextBuffer<64> text_;
  bool is_null_ = false;
};

// Holds the value that an atomic variable has now.
template <class T>
requires(NeedsHolding<T>&& Atomic<T>) class Held<T> {
 public:
  explicit Held(T const& x) noexcept : now_(x.load()), held_(now_) {}
  Value value() const& noexcept { return held_.value(); }
  Value value() const&& = delete;

 private:
  typename T::value_type const now_;
  Held<typename T::value_type> const held_;
};

// Holds the content of an optional: a reference to it, or the object that operator* returns by value.
template <class T>
requires(NeedsHolding<T>&& Optional<T>) class Held<T> {
 public:
  explicit Held(T const& x) noexcept : none_(), has_value_(x.has_value()) {
    if (has_value_) ::new (static_cast<void*>(&content_)) Content(x);
  }
  explicit Held(T const&&) = delete;
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  ~Held() {
    if (has_value_) content_.~Content();
  }
  Value value() const& noexcept { return has_value_ ? content_.held.value() : Value(); }
  Value value() const&& = delete;

 private:
  using Result = decltype(*std::declval<T const&>());
  using Plain = std::remove_cvref_t<Result>;
  struct Content {
    explicit Content(T const& x) noexcept : object(*x), held(object) {}
    std::conditional_t<std::is_lvalue_reference_v<Result>, Plain const&, Plain const> object;
    Held<Plain> const held;
  };
  union {
    char none_;
    Content content_;
  };
  bool has_value_;
};

template <class T>
inline constexpr bool kIsHeld = false;
template <class T>
inline constexpr bool kIsHeld<Held<T>> = true;

template <class T>
void write_debug(DebugWriter& writer, T const& x);

template <class T>
void write_items(DebugWriter& writer, T const& x) {
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

// Writes the structure of `x`, even where value_of() would make a custom value that calls this function again.
template <class T>
void write_structure(DebugWriter& writer, T const& x) {
  if constexpr (HasFieldsFunction<T>) {
    tracing_write_fields(writer, x);
  } else if constexpr (HasFieldsMember<T>) {
    const_cast<T&>(x).tracing_write_fields(writer, x);  // the macro cannot declare it const, but it only reads `x`
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
void write_debug(DebugWriter& writer, T const& x) {
  Held<T> const held(x);
  writer.value(held.value());
}

template <class T>
inline constexpr CustomType kCustomType{
    [](void const* object, DebugWriter& writer) {
      writer.guarded([](void const* x, DebugWriter& to) { write_structure(to, *static_cast<T const*>(x)); }, object);
    },
    [](void const* object, TextBuffer& out, [[maybe_unused]] std::string_view spec) {
      T const& x = *static_cast<T const*>(object);
      if constexpr (!DescribesFields<T> && (PrintsItself<T> || (!std::is_array_v<T> && !Range<T> && !TupleLike<T> &&
                                                                (FmtPrintable<T> || StreamPrintable<T>)))) {
        print_plain(out, x, spec);
      } else {
        DebugWriter writer(out, false);
        writer.guarded([](void const* y, DebugWriter& to) { write_structure(to, *static_cast<T const*>(y)); }, &x);
      }
    }};

// display(x): prints x in the form that a message prints.
template <class T>
void append_displayed(TextBuffer& out, void const* object, std::string_view spec) noexcept {
  Held<T> const held(*static_cast<T const*>(object));
  append_formatted(out, held.value(), spec);
}
template <class T>
inline constexpr CustomType kDisplayType{
    [](void const* object, DebugWriter& writer) {
      InlineTextBuffer<256> text;
      append_displayed<T>(text, object, {});
      writer.raw(text.view());
    },
    [](void const* object, TextBuffer& out, std::string_view spec) { append_displayed<T>(out, object, spec); }};

// debug(x) and pretty(x): print the debug form of a value that would otherwise print in another form.
template <class T, bool kPretty>
inline constexpr CustomType kDebugType{
    [](void const* object, DebugWriter& writer) { write_debug(writer, *static_cast<T const*>(object)); },
    [](void const* object, TextBuffer& out, std::string_view) {
      DebugWriter writer(out, kPretty);
      write_debug(writer, *static_cast<T const*>(object));
    }};

template <class T, PrintAs kAs>
constexpr Value value_of_wrapped(Wrapped<T, kAs> const& x) noexcept {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (kAs == PrintAs::debug) {
    return Value::of_custom(&x.value, kDebugType<Plain, false>);
  } else if constexpr (kAs == PrintAs::pretty) {
    return Value::of_custom(&x.value, kDebugType<Plain, true>).as_pretty();
  } else if constexpr ((Text<Plain> || Utf8Text<Plain>)&&!HasOwnForm<Plain>) {
    Value const text = value_of(x.value);
    return text.is_empty() ? text : Value::of_verbatim(text.as_text());
  } else {
    return Value::of_custom(&x.value, kDisplayType<Plain>);
  }
}

// Returns a number, a Boolean, or a character if `x` is of type char.
template <class T>
constexpr Value value_of_number(T x) noexcept {
  if constexpr (std::same_as<T, bool>) {
    return Value::of_bool(x);
  } else if constexpr (std::same_as<T, char>) {
    return Value::of_char(x);
  } else if constexpr (std::same_as<T, Value::Int128>) {
    return Value::of_i128(x);
  } else if constexpr (std::same_as<T, Value::Uint128>) {
    return Value::of_u128(x);
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

template <class T>
constexpr Value value_of_enum(T const& x) noexcept {
  if constexpr (NamesEnumerators<T>) {
    std::string_view const name = tracing_enumerator_name(x);
    if (name.data() != nullptr) return Value::of_verbatim(name);
  } else if constexpr (EnumPrintsItself<T>) {
    return Value::of_custom(&x, kCustomType<T>);
  }
  return value_of_number(static_cast<std::underlying_type_t<T>>(x));
}

// Returns the text in an array: up to a NUL, or all of it.
constexpr Value value_of_chars(char const* data, std::size_t size) noexcept {
  std::string_view const all(data, size);
  return Value::of_text(all.substr(0, all.find('\0')));
}

template <class T>
constexpr Value value_of_text(T const& x) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    if (x == nullptr) return Value();
    return Value::of_text(std::string_view(x));
  } else if constexpr (std::is_bounded_array_v<T>) {
    return value_of_chars(x, std::extent_v<T>);
  } else {
    return Value::of_text(static_cast<std::string_view>(x));
  }
}

// Returns text of char8_t as text of char, which has the same bytes.
template <class T>
Value value_of_utf8(T const& x) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    if (x == nullptr) return Value();
  }
  if constexpr (std::is_bounded_array_v<T>) {
    return value_of_chars(reinterpret_cast<char const*>(x), std::extent_v<T>);
  } else {
    auto const text = static_cast<std::u8string_view>(x);
    return Value::of_text({reinterpret_cast<char const*>(text.data()), text.size()});
  }
}

template <class Pointer>
constexpr Value value_of_pointer(Pointer x) noexcept {
  if constexpr (std::is_function_v<std::remove_pointer_t<Pointer>>) {
    return Value::of_pointer(reinterpret_cast<void const*>(x));
  } else {
    return Value::of_pointer(const_cast<void const*>(static_cast<void const volatile*>(x)));
  }
}

template <class T>
requires(!NeedsHolding<T>) constexpr Value value_of(T const& x) noexcept {
  using Plain = std::remove_volatile_t<T>;
  if constexpr (std::same_as<Plain, Value>) {
    return x;
  } else if constexpr (std::same_as<Plain, Empty> || std::is_null_pointer_v<Plain>) {
    return Value();
  } else if constexpr (std::same_as<Plain, char8_t>) {
    return Value::of_char(static_cast<char>(x));
  } else if constexpr (std::is_arithmetic_v<Plain> || Int128Bit<Plain>) {
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
  } else if constexpr (HasOwnForm<Plain>) {
    return Value::of_custom(&x, kCustomType<Plain>);
  } else if constexpr (Text<Plain>) {
    return value_of_text(x);
  } else if constexpr (Utf8Text<Plain>) {
    return value_of_utf8(x);
  } else if constexpr (std::is_enum_v<Plain>) {
    return value_of_enum<Plain>(x);
  } else if constexpr (std::is_function_v<Plain>) {
    return Value::of_pointer(reinterpret_cast<void const*>(&x));
  } else if constexpr (std::is_pointer_v<Plain>) {
    return value_of_pointer<Plain>(x);
  } else if constexpr (ByteRange<Plain>) {
    return Value::of_bytes(x.data(), x.size());
  } else if constexpr (Optional<Plain>) {
    return x.has_value() ? value_of(*x) : Value();
  } else if constexpr (SmartPointer<Plain>) {
    return x.get() == nullptr ? Value() : Value::of_pointer(x.get());
  } else if constexpr (Boolean<Plain>) {
    return Value::of_bool(static_cast<bool>(x));
  } else if constexpr (Recordable<T>) {
    return Value::of_custom(&x, kCustomType<Plain>);
  } else {
    return Value();  // the compiler has already reported an error
  }
}

// True if printing a value of this type may run code of the program: an operator<<, a formatter, an iterator of a view.
template <class T>
constexpr bool printing_runs_code() noexcept;
template <class T, std::size_t... kIndex>
constexpr bool printing_any_runs_code(std::index_sequence<kIndex...>) noexcept {
  return (printing_runs_code<std::tuple_element_t<kIndex, T>>() || ...);
}
template <class Given>
constexpr bool printing_runs_code() noexcept {
  using T = std::remove_cvref_t<Given>;
  if constexpr (std::is_same_v<T, Value>) {
    return true;
  } else if constexpr (kIsWrapped<T>) {
    return printing_runs_code<decltype(T::value)>();
  } else if constexpr (std::derived_from<T, std::exception>) {
    return false;
  } else if constexpr (HasOwnForm<T>) {
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    return !NamesEnumerators<T> && EnumPrintsItself<T>;
  } else if constexpr (std::is_array_v<T>) {
    return printing_runs_code<std::remove_extent_t<T>>();
  } else if constexpr (!std::is_class_v<T> && !std::is_union_v<T>) {
    return false;
  } else if constexpr (std::is_same_v<T, Empty> || Text<T> || Utf8Text<T> || WideText<T> || ByteRange<T> ||
                       Boolean<T> || std::is_same_v<T, std::error_code> || std::is_same_v<T, std::exception_ptr>) {
    return false;
  } else if constexpr (Atomic<T>) {
    return printing_runs_code<typename T::value_type>();
  } else if constexpr (Optional<T>) {
    return printing_runs_code<decltype(*std::declval<T const&>())>();
  } else if constexpr (SmartPointer<T>) {
    return false;
  } else if constexpr (is_standard<T>() && Map<T>) {
    return printing_runs_code<typename T::key_type>() || printing_runs_code<typename T::mapped_type>();
  } else if constexpr (is_standard<T>() && Range<T> &&
                       (
                           requires { typename T::allocator_type; } || requires(T const& x) { x.data(); })) {
    return printing_runs_code<decltype(*std::declval<T const&>().begin())>();
  } else if constexpr (is_standard<T>() && TupleLike<T>) {
    return printing_any_runs_code<T>(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return true;
  }
}

template <class T>
void write_field(DebugWriter& writer, std::string_view name, T const& x) {
  writer.field(without_underscore(name));
  write_debug(writer, x);
}

}  // namespace internal
}}  // namespace tracing::v1

#pragma pop_macro("debug")
