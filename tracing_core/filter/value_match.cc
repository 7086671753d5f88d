#include "tracing_core/filter/value_match.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tracing_core/filter/regex_pattern.h"

namespace tracing::inline v1 {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// An optional sign followed by digits; only a plus sign for unsigned numbers.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
  }
  Integer value{};
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// True if a number out of range overflows to infinity, false if it underflows to zero.
// REQUIRES: `text` is digits, an optional point and an optional exponent.
bool is_huge(std::string_view text) noexcept {
  std::size_t const e = text.find_first_of("eE");
  std::string_view const mantissa = text.substr(0, e);
  std::size_t const point = std::min(mantissa.find('.'), mantissa.size());
  std::size_t const first = mantissa.find_first_not_of("0.");
  if (first == std::string_view::npos) return false;
  if (e != std::string_view::npos && text.substr(e + 1).starts_with('-')) return false;
  bool const has_exponent = e != std::string_view::npos && text.find_first_of("123456789", e + 1) != text.npos;
  return has_exponent || first < point;
}

// An optional sign, followed by digits with at most one point and an optional exponent, or by `inf`, `infinity` or
// `nan` in any case.
std::optional<double> parse_float(std::string_view text) noexcept {
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() == '-' || text.front() == '+' || text.find('(') != text.npos) return std::nullopt;
  double value = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || ec == std::errc::invalid_argument) return std::nullopt;
  if (ec == std::errc::result_out_of_range) value = is_huge(text) ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -value : value;
}

// The shortest digits that parse to `value`, without an exponent: 1e21 becomes 1 and 21 zeros.
void append_plain(std::string& out, double value) {
  if (std::signbit(value)) out += '-';
  value = std::fabs(value);
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  char buffer[32];
  char const* const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view const text(buffer, static_cast<std::size_t>(end - buffer));
  std::size_t const e = text.find('e');
  int exponent = 0;
  bool const below_one = text[e + 1] == '-';
  std::from_chars(buffer + e + 2, end, exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  auto const shift = static_cast<std::size_t>(exponent);
  if (below_one) {
    out.append("0.").append(shift - 1, '0').append(digits);
  } else if (digits.size() <= shift + 1) {
    out.append(digits).append(shift + 1 - digits.size(), '0');
  } else {
    out.append(digits, 0, shift + 1).append(".").append(digits, shift + 1);
  }
}

}  // namespace

std::optional<ValueMatch> ValueMatch::parse(std::string_view text, bool regex, std::string& error) {
  internal::PatternBudget budget({});
  return parse(text, regex, budget, error);
}

std::optional<ValueMatch> ValueMatch::parse(std::string_view text, bool regex, internal::PatternBudget& budget,
                                            std::string& error) {
  if (text == "true" || text == "false") return ValueMatch(text == "true");
  if (auto const x = parse_integer<std::uint64_t>(text)) return ValueMatch(*x);
  if (auto const x = parse_integer<std::int64_t>(text)) return ValueMatch(*x);
  if (auto const x = parse_float(text)) return std::isnan(*x) ? ValueMatch(NotANumber()) : ValueMatch(*x);
  if (!regex) return ValueMatch(Literal{std::string(text)});
  auto pattern = internal::RegexPattern::compile(text, budget, error);
  if (!pattern) return std::nullopt;
  return ValueMatch(std::move(pattern));
}

bool ValueMatch::matches_bool(bool x) const noexcept {
  auto const* wanted = std::get_if<bool>(&value_);
  return wanted != nullptr && *wanted == x;
}

bool ValueMatch::matches_u64(std::uint64_t x) const noexcept {
  auto const* wanted = std::get_if<std::uint64_t>(&value_);
  return wanted != nullptr && *wanted == x;
}

bool ValueMatch::matches_i64(std::int64_t x) const noexcept {
  if (auto const* wanted = std::get_if<std::int64_t>(&value_)) return *wanted == x;
  return x >= 0 && matches_u64(static_cast<std::uint64_t>(x));
}

bool ValueMatch::matches_f64(double x) const noexcept {
  if (std::holds_alternative<NotANumber>(value_)) return std::isnan(x);
  auto const* wanted = std::get_if<double>(&value_);
  return wanted != nullptr && std::fabs(x - *wanted) < std::numeric_limits<double>::epsilon();
}

bool ValueMatch::matches_f32(float x) const noexcept {
  auto const* wanted = std::get_if<double>(&value_);
  return matches_f64(x) || (wanted != nullptr && std::isfinite(x) && static_cast<float>(*wanted) == x);
}

bool ValueMatch::matches_pattern(std::string_view text) const noexcept {
  auto const* pattern = std::get_if<Pattern>(&value_);
  return pattern != nullptr && (*pattern)->matches_until_end(text);
}

bool ValueMatch::matches_literal(std::string_view printed) const noexcept {
  auto const* literal = std::get_if<Literal>(&value_);
  return literal != nullptr && std::string_view(literal->text).starts_with(printed);
}

bool ValueMatch::is_pattern() const noexcept { return std::holds_alternative<Pattern>(value_); }
bool ValueMatch::is_literal() const noexcept { return std::holds_alternative<Literal>(value_); }

ValueMatch ValueMatch::without_regex() const {
  auto const* pattern = std::get_if<Pattern>(&value_);
  return pattern == nullptr ? *this : ValueMatch(Literal{(*pattern)->text()});
}

void ValueMatch::append_to(std::string& out) const {
  struct Append {
    std::string& out;
    void operator()(bool x) const { out += x ? "true" : "false"; }
    void operator()(double x) const { append_plain(out, x); }
    void operator()(NotANumber) const { out += "NaN"; }
    void operator()(std::uint64_t x) const { out += std::to_string(x); }
    void operator()(std::int64_t x) const { out += std::to_string(x); }
    void operator()(Pattern const& x) const { out += x->text(); }
    void operator()(Literal const& x) const { out += x.text; }
  };
  std::visit(Append{out}, value_);
}

std::weak_ordering ValueMatch::compare(ValueMatch const& b) const noexcept {
  using Order = std::weak_ordering;
  if (value_.index() != b.value_.index()) return value_.index() <=> b.value_.index();
  auto const compare_same_type = [&b]<class T>(T const& x) -> Order {
    T const& y = *std::get_if<T>(&b.value_);
    if constexpr (std::is_same_v<T, Pattern>) {
      return x->text() <=> y->text();
    } else if constexpr (std::is_same_v<T, Literal>) {
      return x.text <=> y.text;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return x < y ? Order::less : y < x ? Order::greater : Order::equivalent;
    } else {
      return Order::equivalent;  // not a number
    }
  };
  return std::visit(compare_same_type, value_);
}

}  // namespace tracing::inline v1
