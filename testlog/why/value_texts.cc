#include "testlog/why/value_texts.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "testlog/why/values.h"

namespace testlog::why {
namespace {

constexpr std::size_t kMinDigits = 4, kManyDigits = 9;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Returns the text with `#` in place of the digits behind the point.
std::string without_fraction(std::string_view text) {
  std::size_t const point = text.find('.');
  if (point == text.npos) return std::string(text);
  std::size_t const end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  return std::string(text.substr(0, point + 1)) + "#" + std::string(text.substr(end));
}

std::uint64_t shape_id_of(tracing::Value const& value, std::string const& text) {
  bool const is_pointer = value.kind() == tracing::ValueKind::pointer && value.as_pointer() != nullptr;
  bool const is_float = value.kind() == tracing::ValueKind::f64 || value.kind() == tracing::ValueKind::f32;
  std::string const shape = is_pointer ? "#" : shape_of(is_float ? without_fraction(text) : text);
  return std::hash<std::string>()(shape);
}

}  // namespace

std::string shape_of(std::string_view text) {
  std::string shape;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    bool has_digit = false, has_letter = false;
    for (; end < text.size() && is_hex(text[end]); ++end) (is_digit(text[end]) ? has_digit : has_letter) = true;
    if (has_digit && end - i >= kMinDigits) {
      shape.append(std::min(end - i, kManyDigits), '#');
    } else {
      if (end == i) ++end;
      shape.append(text.substr(i, end - i));
    }
    i = end;
  }
  return shape;
}

TextId ValueTexts::add(tracing::Value const& value) {
  std::uint64_t const exact = id_of(value);
  auto const [at, is_new] = by_id_.try_emplace(exact, static_cast<TextId>(all_.size()));
  if (is_new) {
    std::string text = text_of(value);
    std::uint64_t const shape = shape_id_of(value, text);
    all_.push_back({exact, shape, std::move(text)});
  }
  return at->second;
}

}  // namespace testlog::why
