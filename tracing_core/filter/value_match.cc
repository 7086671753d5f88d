#include "tracing_core/filter/value_match.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tracing_core/filter/pattern/regex_pattern.h"
#include "tracing_core/support/characters.h"

namespace tracing { inline namespace v1 {
namespace {

using support::is_digit;

// Parses an optional sign followed by digits. Unsigned numbers may only have a plus sign.
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

// Returns true if a number out of range overflows to infinity, false if it underflows to zero. REQUIRES: `text`
// consists of digits, an optional point and an optional exponent.
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

// Parses an optional sign, followed by digits with at most one point and an optional exponent, or by `inf`, `infinity`
// or `nan` in any case.
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

// Appends the shortest digits that parse to `value`, without an exponent: 1e21 becomes 1 and 21 zeros.
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

void append_utf8(std::string& out, char32_t c) {
  auto const tail = [&out, c](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

// Returns the value of hexadecimal digits; nothing if it is not a code point.
std::optional<char32_t> parse_code_point(std::string_view digits) noexcept {
  std::uint32_t value = 0;
  auto const [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (ec != std::errc() || end != digits.data() + digits.size() || value > 0x10FFFF) return std::nullopt;
  return value;
}

// Appends the character for the escape that follows a backslash at the start of `text`. Returns the size of the escape,
// or 0 if append_quoted() never writes it.
std::size_t append_unescaped(std::string& out, std::string_view text) {
  constexpr std::string_view kLetters = "\"\\'ntr0", kCharacters("\"\\'\n\t\r\0", 7);
  if (text.empty()) return 0;
  if (std::size_t const at = kLetters.find(text.front()); at != kLetters.npos) return out += kCharacters[at], 1;
  if (text.front() == 'x' && text.size() >= 3) {
    auto const byte = parse_code_point(text.substr(1, 2));
    return byte ? (out += static_cast<char>(*byte), 3) : 0;
  }
  std::size_t const close = text.starts_with("u{") ? text.find('}') : text.npos;
  if (close == text.npos || close > 8) return 0;
  auto const code_point = parse_code_point(text.substr(2, close - 2));
  return code_point ? (append_utf8(out, *code_point), close + 1) : 0;
}

// Undoes the escapes of append_quoted() in `text`, which is without its quotes. Returns nothing if `text` has an escape
// that append_quoted() never writes.
std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t const plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    text.remove_prefix(1);
    std::size_t const size = append_unescaped(out, text);
    if (size == 0) return std::nullopt;
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::shared_ptr<ValueMatch::Written> ValueMatch::written(std::string_view text) {
  Written written{std::string(text), text.size() >= 2 && text.front() == '"' && text.back() == '"', {}, {}, {}};
  if (written.is_quoted) {
    written.inside = text.substr(1, text.size() - 2);
    written.unescaped = unescape(written.inside);
  }
  return std::make_shared<Written>(std::move(written));
}

ValueMatch ValueMatch::of_text(std::string_view text) {
  ValueMatch match(Pattern{std::string(text), nullptr});
  match.written_ = written(text);
  return match;
}

std::optional<ValueMatch> ValueMatch::parse(std::string_view text, ValueSyntax syntax, std::string& error) {
  internal::PatternBudget budget({});
  return parse(text, syntax, budget, error);
}

std::optional<ValueMatch> ValueMatch::parse(std::string_view text, ValueSyntax syntax, internal::PatternBudget& budget,
                                            std::string& error) {
  ValueMatch match(false);
  auto const as_text = syntax == ValueSyntax::text_or_regex ? written(text) : nullptr;
  match.written_ = as_text;
  if (text == "true" || text == "false") {
    match.value_ = text == "true";
  } else if (auto const natural = parse_integer<std::uint64_t>(text)) {
    match.value_ = *natural;
  } else if (auto const integer = parse_integer<std::int64_t>(text)) {
    match.value_ = *integer;
  } else if (auto const real = parse_float(text)) {
    match.value_ = std::isnan(*real) ? Alternatives(NotANumber()) : Alternatives(*real);
  } else if (syntax == ValueSyntax::printed) {
    match.value_ = Literal{std::string(text)};
  } else {
    auto regex = internal::RegexPattern::compile(text, budget, error);
    if (regex == nullptr && (as_text == nullptr || (budget.exceeded && !as_text->is_quoted))) return std::nullopt;
    if (regex == nullptr && !as_text->is_quoted) as_text->pattern_error = error;
    match.value_ = Pattern{std::string(text), std::move(regex)};
  }
  return match;
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
  if (wanted == nullptr) return false;
  bool const is_infinity = written_ != nullptr && x == *wanted;  // the difference of two infinities is NaN
  return is_infinity || std::fabs(x - *wanted) < std::numeric_limits<double>::epsilon();
}

bool ValueMatch::matches_f32(float x) const noexcept {
  auto const* wanted = std::get_if<double>(&value_);
  return matches_f64(x) || (wanted != nullptr && std::isfinite(x) && static_cast<float>(*wanted) == x);
}

bool ValueMatch::matches_text(std::string_view text) const noexcept {
  if (written_ != nullptr) {
    if (text == written_->text) return true;
    if (written_->is_quoted && (text == written_->inside || (written_->unescaped && text == *written_->unescaped)))
      return true;
  }
  auto const* pattern = std::get_if<Pattern>(&value_);
  return pattern != nullptr && pattern->regex != nullptr && pattern->regex->matches_until_end(text);
}

bool ValueMatch::matches_literal(std::string_view printed) const noexcept {
  auto const* literal = std::get_if<Literal>(&value_);
  return literal != nullptr && std::string_view(literal->text).starts_with(printed);
}

bool ValueMatch::is_pattern() const noexcept { return std::holds_alternative<Pattern>(value_); }
bool ValueMatch::is_literal() const noexcept { return std::holds_alternative<Literal>(value_); }

std::string_view ValueMatch::unquoted() const noexcept {
  if (written_ == nullptr) return {};
  return written_->is_quoted ? written_->inside : written_->text;
}

ValueMatch ValueMatch::read_as(ValueSyntax syntax) const {
  ValueMatch match = *this;
  if (syntax == ValueSyntax::text_or_regex) return match;
  match.written_ = nullptr;
  auto const* pattern = std::get_if<Pattern>(&value_);
  if (syntax == ValueSyntax::printed && pattern != nullptr) match.value_ = Literal{pattern->text};
  return match;
}

void ValueMatch::append_to(std::string& out) const {
  struct Append {
    std::string& out;
    void operator()(bool x) const { out += x ? "true" : "false"; }
    void operator()(double x) const { append_plain(out, x); }
    void operator()(NotANumber) const { out += "NaN"; }
    void operator()(std::uint64_t x) const { out += std::to_string(x); }
    void operator()(std::int64_t x) const { out += std::to_string(x); }
    void operator()(Pattern const& x) const { out += x.text; }
    void operator()(Literal const& x) const { out += x.text; }
  };
  std::visit(Append{out}, value_);
}

std::weak_ordering ValueMatch::compare(ValueMatch const& b) const noexcept {
  using Order = std::weak_ordering;
  if (value_.index() != b.value_.index()) return value_.index() <=> b.value_.index();
  auto const compare_same_type = [&b]<class T>(T const& x) -> Order {
    T const& y = *std::get_if<T>(&b.value_);
    if constexpr (std::is_same_v<T, Pattern> || std::is_same_v<T, Literal>) {
      return x.text <=> y.text;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return x < y ? Order::less : y < x ? Order::greater : Order::equivalent;
    } else {
      return Order::equivalent;  // both are NaN
    }
  };
  return std::visit(compare_same_type, value_);
}

}}  // namespace tracing::v1
