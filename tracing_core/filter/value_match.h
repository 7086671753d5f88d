// ValueMatch: the value that a directive requires of a field, as in `x=1`, `x=true`, `x=GET|POST`.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

namespace internal {
class RegexPattern;
class PatternBudget;
}  // namespace internal

/// Says what the text of a required value means if it is neither a number nor a boolean.
enum class ValueSyntax : std::uint8_t {
  text_or_regex,  ///< the value's own text, and also a regular expression if it is a valid one
  regex,          ///< only a regular expression, as the reference reads it
  printed,        ///< the debug output of the value
};

/// The value that a field must have. The text is tried as each of these types, in this order: `true` or `false`,
/// unsigned, signed, floating-point, `nan`. Any other text is read as ValueSyntax says. Copies share one compiled
/// pattern. Immutable, so thread-safe.
class ValueMatch {
 public:
  /// Parses a value. If the text must be a regular expression but is not valid, or takes too much memory as one,
  /// returns nothing and sets `error` to the reason.
  static std::optional<ValueMatch> parse(std::string_view text, ValueSyntax syntax, std::string& error);
  // As above, for one of several values, which share a budget.
  static std::optional<ValueMatch> parse(std::string_view text, ValueSyntax syntax, internal::PatternBudget& budget,
                                         std::string& error);
  /// Returns a value that matches this text, with or without quotes.
  static ValueMatch of_text(std::string_view text);

  // Each of these returns true if a value that was recorded with this type matches. Integers never match a
  // floating-point number, nor the reverse. Numbers and booleans never match a pattern. Floats match within the machine
  // epsilon; an infinity matches only under ValueSyntax::text_or_regex.
  bool matches_bool(bool x) const noexcept;
  bool matches_u64(std::uint64_t x) const noexcept;
  bool matches_i64(std::int64_t x) const noexcept;
  bool matches_f64(double x) const noexcept;
  /// As matches_f64(), but rounds the required value to float first: `x=0.1` matches 0.1F.
  bool matches_f32(float x) const noexcept;
  /// True if `text`, which is text or the debug output of another value, is the text that was written, or the text
  /// written in quotes, with its escapes or without. Also true if the leftmost-first match of the pattern ends at the
  /// end of `text`: `b.b` matches "xbob", `o` does not match "bob".
  bool matches_text(std::string_view text) const noexcept;
  /// True if the debug output of a value (text is quoted) is a prefix of the literal, a value parsed by
  /// ValueSyntax::printed.
  bool matches_literal(std::string_view printed) const noexcept;

  bool is_pattern() const noexcept;  ///< a regular expression or text
  bool is_literal() const noexcept;
  /// True if the value is text and was written in quotes. It then matches each value that prints as this text.
  bool is_quoted() const noexcept { return written_ != nullptr && written_->is_quoted; }
  /// Returns false if it never matches debug output.
  bool needs_printing() const noexcept { return written_ != nullptr || is_pattern() || is_literal(); }
  /// Returns the text that was written, without quotes; empty unless it means text.
  std::string_view unquoted() const noexcept;
  /// Says why the text is not also a regular expression; empty if it is a regular expression or was written in quotes.
  std::string_view pattern_error() const noexcept {
    return written_ == nullptr ? std::string_view() : written_->pattern_error;
  }
  /// Returns this value as if it had been parsed with this syntax. ValueSyntax::text_or_regex leaves it as it is.
  ValueMatch read_as(ValueSyntax syntax) const;

  /// Appends a text that parses to this value: `+1` becomes `1`, `1e3` becomes `1000`.
  void append_to(std::string& out) const;

  /// Orders by type (bool, f64, nan, u64, i64, pattern, literal), then by value; patterns by their text.
  friend std::weak_ordering operator<=>(ValueMatch const& a, ValueMatch const& b) noexcept { return a.compare(b); }
  friend bool operator==(ValueMatch const& a, ValueMatch const& b) noexcept { return a.compare(b) == 0; }

 private:
  struct NotANumber {};
  struct Literal {
    std::string text;
  };
  struct Pattern {
    std::string text;
    std::shared_ptr<internal::RegexPattern const> regex;  // null if `text` is not a regular expression and is taken
                                                          // literally
  };
  // The text as a literal; null unless the syntax is ValueSyntax::text_or_regex.
  struct Written {
    std::string text;
    bool is_quoted = false;
    std::string inside;                    // the text between the quotes
    std::optional<std::string> unescaped;  // `inside` without its escapes; none if it has other escapes than quoted
                                           // text has
    std::string pattern_error;
  };
  // Values are ordered by type in the order of these alternatives.
  using Alternatives = std::variant<bool, double, NotANumber, std::uint64_t, std::int64_t, Pattern, Literal>;

  explicit ValueMatch(Alternatives value) : value_(std::move(value)) {}
  static std::shared_ptr<Written> written(std::string_view text);
  std::weak_ordering compare(ValueMatch const& other) const noexcept;

  Alternatives value_;
  std::shared_ptr<Written const> written_;
};

}}  // namespace tracing::v1
