// Value: one recorded value, passed from a callsite to the subscriber.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/model/text_buffer.h"

#pragma push_macro("debug")
#pragma push_macro("error")
#undef debug
#undef error

namespace tracing { inline namespace v1 {

class DebugWriter;
class Metadata;

namespace internal {

// Holds every character as a text of its own, so that the value of a character borrows nothing.
struct EveryCharacter {
  char characters[256];
  constexpr EveryCharacter() noexcept : characters() {
    for (int i = 0; i < 256; ++i) characters[i] = static_cast<char>(i);
  }
};
inline constexpr EveryCharacter kEveryCharacter;

}  // namespace internal

/// The type of a recorded value; decides how formats print it and how filters compare it.
enum class ValueKind : std::uint8_t {
  empty,  ///< no value: a null pointer to text, an empty optional, `tracing::empty`; not printed
  boolean,
  i64,
  u64,
  f64,
  f32,  ///< prints the shortest text that reads back as the same float
  i128,
  u128,
  pointer,    ///< prints as hexadecimal
  redacted,   ///< a hidden value, see redaction.h; prints a token
  text = 16,  ///< UTF-8 text; prints quoted. From here on, kinds have this bit and are pointers to data
  verbatim,   ///< text that a type printed; prints unchanged
  bytes,
  error,    ///< an error and its causes
  custom,   ///< an object that can print itself
  message,  ///< an event's message: a literal with placeholders for values
};

/// Says how objects of a user's type print.
struct CustomType {
  /// Writes the debug form of `object`; the writer decides between one line and several.
  void (*debug)(void const* object, DebugWriter& writer);
  /// Appends `object` by a format specification; an empty specification means the plain form.
  void (*format)(void const* object, TextBuffer& out, std::string_view spec);
};

/// Says how to get the texts of an error and its causes.
struct ErrorType {
  /// Calls `each` with the error's own text, then with each cause's, the root cause last.
  void (*visit)(void const* object, void* context, void (*each)(void* context, std::string_view text));
};

/// One recorded value: a tag and 16 bytes. Text, bytes and objects are borrowed; they are valid as long as the
/// statement that recorded them, and StoredValues copies them. A temporary that would die earlier does not compile.
/// Trivially copyable.
class Value {
 public:
  constexpr Value() noexcept = default;

  static constexpr Value of_bool(bool x) noexcept { return Value(ValueKind::boolean, std::uint64_t{x}); }
  static constexpr Value of_i64(std::int64_t x) noexcept {
    return Value(ValueKind::i64, static_cast<std::uint64_t>(x));
  }
  static constexpr Value of_u64(std::uint64_t x) noexcept { return Value(ValueKind::u64, x); }
  static constexpr Value of_f64(double x) noexcept { return Value(ValueKind::f64, x); }
  static constexpr Value of_f32(float x) noexcept { return Value(ValueKind::f32, static_cast<double>(x)); }
  __extension__ typedef __int128 Int128;
  __extension__ typedef unsigned __int128 Uint128;
  static constexpr Value of_i128(Int128 x) noexcept {
    return Value(ValueKind::i128, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64));
  }
  static constexpr Value of_u128(Uint128 x) noexcept {
    return Value(ValueKind::u128, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64));
  }
  static constexpr Value of_text(std::string_view x) noexcept { return Value(ValueKind::text, x.data(), x.size()); }
  static constexpr Value of_verbatim(std::string_view x) noexcept {
    return Value(ValueKind::verbatim, x.data(), x.size());
  }
  template <std::same_as<std::string> Text>
  static Value of_text(Text const&&) = delete;
  template <std::same_as<std::string> Text>
  static Value of_verbatim(Text const&&) = delete;
  /// Returns a text of one character, which borrows nothing.
  static constexpr Value of_char(char x) noexcept {
    return of_text({&internal::kEveryCharacter.characters[static_cast<unsigned char>(x)], 1});
  }
  static constexpr Value of_bytes(void const* data, std::size_t size) noexcept {
    return Value(ValueKind::bytes, data, size);
  }
  static constexpr Value of_redacted() noexcept { return Value(ValueKind::redacted, std::uint64_t{0}); }
  static constexpr Value of_pointer(void const* x) noexcept { return Value(ValueKind::pointer, x); }
  static constexpr Value of_error(void const* object, ErrorType const& type) noexcept {
    return Value(ValueKind::error, object, &type);
  }
  /// Returns an error that includes the exceptions nested in `e`. REQUIRES, as std::rethrow_if_nested() does, that the
  /// exception's class was not compiled with -fno-rtti; use of_plain_error() for such a class.
  static Value of_error(std::exception const& e) noexcept;
  static Value of_plain_error(std::exception const& e) noexcept;
  static Value of_error(std::error_code const& e) noexcept;
  static Value of_error(std::exception_ptr const& e) noexcept;
  static Value of_error(void const* object, ErrorType const&& type) = delete;
  static Value of_error(std::exception const&& e) = delete;
  static Value of_plain_error(std::exception const&& e) = delete;
  static Value of_error(std::error_code const&& e) = delete;
  static Value of_error(std::exception_ptr const&& e) = delete;
  static constexpr Value of_custom(void const* object, CustomType const& type) noexcept {
    return Value(ValueKind::custom, object, &type);
  }
  static Value of_custom(void const* object, CustomType const&& type) = delete;
  /// Returns the message of `metadata`, whose placeholders are filled from `values`, in the order of the statement's
  /// arguments.
  static constexpr Value of_message(Metadata const& metadata, Value const* values) noexcept {
    return Value(ValueKind::message, &metadata, values);
  }
  static Value of_message(Metadata const&& metadata, Value const* values) = delete;

  constexpr ValueKind kind() const noexcept { return kind_; }
  constexpr bool is_empty() const noexcept { return kind_ == ValueKind::empty; }
  /// True if a custom value prints over several lines.
  constexpr bool is_pretty() const noexcept { return pretty_; }
  constexpr Value as_pretty() const noexcept {
    Value copy = *this;
    copy.pretty_ = true;
    return copy;
  }

  // REQUIRES, for each of these functions: kind() fits.
  constexpr bool as_bool() const noexcept { return first_.number != 0; }
  constexpr std::int64_t as_i64() const noexcept { return static_cast<std::int64_t>(first_.number); }
  constexpr std::uint64_t as_u64() const noexcept { return first_.number; }
  constexpr double as_double() const noexcept { return first_.real; }
  constexpr Int128 as_i128() const noexcept { return static_cast<Int128>(as_u128()); }
  constexpr Uint128 as_u128() const noexcept { return (static_cast<Uint128>(second_.number) << 64) | first_.number; }
  /// Returns the characters of text, verbatim and bytes.
  constexpr std::string_view as_text() const noexcept {
    return {static_cast<char const*>(first_.pointer), second_.number};
  }
  constexpr void const* as_pointer() const noexcept { return first_.pointer; }
  constexpr CustomType const& custom_type() const noexcept { return *static_cast<CustomType const*>(second_.pointer); }
  constexpr ErrorType const& error_type() const noexcept { return *static_cast<ErrorType const*>(second_.pointer); }
  constexpr Metadata const& message_metadata() const noexcept { return *static_cast<Metadata const*>(first_.pointer); }
  constexpr Value const* message_values() const noexcept { return static_cast<Value const*>(second_.pointer); }

 private:
  union Word {
    std::uint64_t number;
    double real;
    void const* pointer;
    constexpr Word() noexcept : number(0) {}
    constexpr Word(std::uint64_t x) noexcept : number(x) {}
    constexpr Word(double x) noexcept : real(x) {}
    constexpr Word(void const* x) noexcept : pointer(x) {}
  };
  constexpr Value(ValueKind kind, Word first) noexcept : first_(first), kind_(kind) {}
  constexpr Value(ValueKind kind, Word first, Word second) noexcept : first_(first), second_(second), kind_(kind) {}

  Word first_;
  Word second_;
  ValueKind kind_ = ValueKind::empty;
  bool pretty_ = false;
};

/// Appends the message without quotes: its literal, with the placeholders filled. REQUIRES: value.kind() ==
/// ValueKind::message.
void append_message(TextBuffer& out, Value const& value) noexcept;

/// Appends a value by a format specification as fmt would; an empty specification prints `2` for 2.0. A `?` at its end
/// means the form after `name=`, for any value; the part before the `?` applies to this form as to a text. Kinds that
/// fmt does not have print as in messages. A specification that does not fit the value counts as empty.
void append_formatted(TextBuffer& out, Value const& value, std::string_view spec) noexcept;

/// Appends a value as formats print it after `name=`: text quoted, other kinds as in messages. Appends nothing if it is
/// empty.
void append_debug(TextBuffer& out, Value const& value) noexcept;

}}  // namespace tracing::v1

#pragma pop_macro("error")
#pragma pop_macro("debug")
