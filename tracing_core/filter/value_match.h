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

namespace tracing::inline v1 {

namespace internal {
class RegexPattern;
class PatternBudget;
}  // namespace internal

/// What the text of a required value means if it is neither a number nor a boolean.
enum class ValueSyntax : std::uint8_t {
  text_or_regex,  ///< the value's own text, or else, if it is one, a regular expression
  regex,          ///< a regular expression alone, as the reference reads it
  printed,        ///< the debug output of the value
};

/// The value that a field must have. Text is tried in this order: `true` or `false`, unsigned, signed, floating-point,
/// `nan`. Anything else is read as ValueSyntax says. Copies share one compiled pattern. Immutable, so thread-safe.
class ValueMatch {
 public:
  /// Parses a value. If it must be a regular expression but is none, or is one that takes too much memory, returns nothing
  /// and sets `error` to the reason.
  static std::optional<ValueMatch> parse(std::string_view text, ValueSyntax syntax, std::string& error);
  // The same for a value of several, all of which have one budget.
  static std::optional<ValueMatch> parse(std::string_view text, ValueSyntax syntax, internal::PatternBudget& budget,
                                         std::string& error);
  /// The value whose own text this is, with or without quotes.
  static ValueMatch of_text(std::string_view text);

  // True if a value that was recorded with this type matches. Integers never match a floating-point number, nor the
  // reverse. Numbers and booleans never match a pattern. Floats match within the machine epsilon, so an infinity never
  // matches.
  bool matches_bool(bool x) const noexcept;
  bool matches_u64(std::uint64_t x) const noexcept;
  bool matches_i64(std::int64_t x) const noexcept;
  bool matches_f64(double x) const noexcept;
  /// As matches_f64(), but rounds the required value to float first: `x=0.1` matches 0.1F.
  bool matches_f32(float x) const noexcept;
  /// True if `text`, which is text or the debug output of any other value, is what was written, or what was written in
  /// quotes, with the escapes of quoted text or without; or if the pattern's leftmost-first match ends at its end:
  /// `b.b` matches "xbob", `o` does not match "bob".
  bool matches_text(std::string_view text) const noexcept;
  /// True if the debug output of a value (text is quoted) is a prefix of the literal, which is a value parsed with
  /// regex off.
  bool matches_literal(std::string_view printed) const noexcept;

  bool is_pattern() const noexcept;  ///< or text
  bool is_literal() const noexcept;
  /// True if it was written in quotes and means text, so that it matches whatever prints as this text.
  bool is_quoted() const noexcept { return written_ != nullptr && written_->is_quoted; }
  /// False if debug output matches it in no way.
  bool needs_printing() const noexcept { return written_ != nullptr || is_pattern() || is_literal(); }
  /// What was written, without quotes; empty unless it means text.
  std::string_view unquoted() const noexcept;
  /// Why it is text but not a regular expression, too; empty if it is, and if it was written in quotes.
  std::string_view pattern_error() const noexcept {
    return written_ == nullptr ? std::string_view() : written_->pattern_error;
  }
  /// This value as if it was parsed with this syntax. ValueSyntax::text_or_regex leaves it as it is.
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
    std::shared_ptr<internal::RegexPattern const> regex;  // null if `text` is none, but is taken literally
  };
  // The text as a literal; null unless the syntax is ValueSyntax::text_or_regex.
  struct Written {
    std::string text;
    bool is_quoted = false;
    std::string inside;                    // the quotes
    std::optional<std::string> unescaped;  // the inside without escapes; none if they are not those of quoted text
    std::string pattern_error;
  };
  // The order of the alternatives is the order of the types.
  using Alternatives = std::variant<bool, double, NotANumber, std::uint64_t, std::int64_t, Pattern, Literal>;

  explicit ValueMatch(Alternatives value) : value_(std::move(value)) {}
  static std::shared_ptr<Written> written(std::string_view text);
  std::weak_ordering compare(ValueMatch const& other) const noexcept;

  Alternatives value_;
  std::shared_ptr<Written const> written_;
};

}  // namespace tracing::inline v1
