#include "tracing_core/format/duration_text.h"

#include <charconv>
#include <string_view>

namespace tracing { inline namespace v1 {
namespace {

void append_rounded(TextBuffer& out, double value, int decimals, std::string_view unit) noexcept {
  constexpr std::size_t kMaxSize = 32;
  if (char* const begin = out.reserve(kMaxSize)) {
    auto const end = std::to_chars(begin, begin + kMaxSize, value, std::chars_format::fixed, decimals).ptr;
    out.commit(static_cast<std::size_t>(end - begin));
  }
  out.append(unit);
}

}  // namespace

// Divides a floating-point number, as the reference does, so that ties are rounded as in the reference.
void append_duration(TextBuffer& out, std::uint64_t nanoseconds) noexcept {
  auto value = static_cast<double>(nanoseconds);
  for (std::string_view const unit : {"ns", "\u00b5s", "ms", "s"}) {
    if (value < 1000) return append_rounded(out, value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
    value /= 1000;
  }
  append_rounded(out, value * 1000, 0, "s");
}

void append_relative_time(TextBuffer& out, std::int64_t nanoseconds, std::size_t width) noexcept {
  bool const is_before = nanoseconds < 0;
  std::uint64_t const size =
      is_before ? -static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  std::uint64_t const us = size / 1000;
  InlineTextBuffer<32> text;
  text.push_back(is_before ? '-' : '+');
  text.append_uint(us / 1000);
  char const fraction[] = {'.', static_cast<char>('0' + us / 100 % 10), static_cast<char>('0' + us / 10 % 10),
                           static_cast<char>('0' + us % 10)};
  text.append(std::string_view(fraction, sizeof(fraction)));
  text.append(" ms");
  for (std::size_t i = text.size(); i < width; ++i) out.push_back(' ');
  out.append(text.view());
}

}}  // namespace tracing::v1
