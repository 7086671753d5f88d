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

/// The value that a field must have. Text is tried in this order: `true` or `false`, unsigned, signed, floating-point,
/// `nan`. Anything else is a regular expression or, with regex off, the debug output of the value. Copies share one
/// compiled pattern. Immutable, so thread-safe.
class ValueMatch {
 public:
  /// Parses a value. If it is a regular expression that cannot be compiled, or takes too much memory, returns nothing
  /// and sets `error` to the reason.
  static std::optional<ValueMatch> parse(std::string_view text, bool regex, std::string& error);
  // The same for a value of several, all of which have one budget.
  static std::optional<ValueMatch> parse(std::string_view text, bool regex, internal::PatternBudget& budget,
                                         std::string& error);

  // True if a value that was recorded with this type matches. Integers never match a floating-point number, nor the
  // reverse. Numbers and booleans never match a pattern. Floats match within the machine epsilon, so an infinity never
  // matches.
  bool matches_bool(bool x) const noexcept;
  bool matches_u64(std::uint64_t x) const noexcept;
  bool matches_i64(std::int64_t x) const noexcept;
  bool matches_f64(double x) const noexcept;
  /// As matches_f64(), but rounds the required value to float first: `x=0.1` matches 0.1F.
  bool matches_f32(float x) const noexcept;
  /// True if the pattern's leftmost-first match ends at the end of the text: `b.b` matches "xbob", `o` does not match
  /// "bob".
  bool matches_pattern(std::string_view text) const noexcept;
  /// True if the debug output of a value (text is quoted) is a prefix of the literal, which is a value parsed with
  /// regex off.
  bool matches_literal(std::string_view printed) const noexcept;

  bool is_pattern() const noexcept;
  bool is_literal() const noexcept;
  /// This value as if it was parsed with regex off.
  ValueMatch without_regex() const;

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
  using Pattern = std::shared_ptr<internal::RegexPattern const>;
  // The order of the alternatives is the order of the types.
  using Alternatives = std::variant<bool, double, NotANumber, std::uint64_t, std::int64_t, Pattern, Literal>;

  explicit ValueMatch(Alternatives value) : value_(std::move(value)) {}
  std::weak_ordering compare(ValueMatch const& other) const noexcept;

  Alternatives value_;
};

}  // namespace tracing::inline v1
