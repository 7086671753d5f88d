// Declares ValueMatch, what a directive wants a field's value to be: `x=1`, `x=true`, `x=GET|POST`.
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
}

/// What a field's value must be. Read from text in this order: `true` or `false`, unsigned, signed, floating, `nan`,
/// and whatever is none of these is a regular expression, or with regex off the text that the value prints for
/// debugging. Copies share one compiled pattern; thread-safe once made.
class ValueMatch {
 public:
  /// Reads a value; never fails with regex off. A regular expression that cannot be compiled gives nothing and a
  /// sentence in `error`.
  static std::optional<ValueMatch> parse(std::string_view text, bool regex, std::string& error);

  // Each says whether a value recorded with that type fits. Integers never fit a floating filter nor the reverse,
  // numbers and booleans never fit a pattern, floats fit within the machine epsilon (so an infinity never fits).
  bool matches_bool(bool x) const noexcept;
  bool matches_u64(std::uint64_t x) const noexcept;
  bool matches_i64(std::int64_t x) const noexcept;
  bool matches_f64(double x) const noexcept;
  /// As matches_f64(), after the wanted value was made a float too: `x=0.1` fits 0.1F.
  bool matches_f32(float x) const noexcept;
  /// Whether a pattern fits text. The first match, leftmost and by preference, must end where the text ends: `b.b` fits
  /// "xbob", `o` does not fit "bob".
  bool matches_pattern(std::string_view text) const noexcept;
  /// Whether a literal, a value read with regex off, fits what a value prints for debugging (text quoted). What is
  /// printed only needs to be the beginning of the literal.
  bool matches_literal(std::string_view printed) const noexcept;

  bool is_pattern() const noexcept;
  bool is_literal() const noexcept;
  /// The same with a pattern taken literally, as if read with regex off.
  ValueMatch without_regex() const;

  /// Appends the text that reads back as this value: `+1` is `1`, `1e3` is `1000`.
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
