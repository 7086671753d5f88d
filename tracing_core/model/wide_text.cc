#include "tracing_core/model/wide_text.h"

#include <cstddef>

namespace tracing { inline namespace v1 {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr bool is_high_surrogate(char32_t c) noexcept { return c >= 0xd800 && c < 0xdc00; }
constexpr bool is_low_surrogate(char32_t c) noexcept { return c >= 0xdc00 && c < 0xe000; }

void append_one(TextBuffer& out, char32_t c) noexcept {
  if (c > 0x10ffff || is_high_surrogate(c) || is_low_surrogate(c)) c = kReplacement;
  if (c < 0x80) return out.push_back(static_cast<char>(c));
  char bytes[4];
  std::size_t const size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (std::size_t i = size; --i > 0; c >>= 6) bytes[i] = static_cast<char>(0x80 | (c & 0x3f));
  bytes[0] = static_cast<char>((0xf00 >> size) | c);
  out.append({bytes, size});
}

template <class C>
void append_all(TextBuffer& out, std::basic_string_view<C> text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<char32_t>(text[i]);
    if constexpr (sizeof(C) == 2) {
      if (is_high_surrogate(c) && i + 1 < text.size() && is_low_surrogate(static_cast<char32_t>(text[i + 1])))
        c = 0x10000 + ((c - 0xd800) << 10) + (static_cast<char32_t>(text[++i]) - 0xdc00);
    }
    append_one(out, c);
  }
}

}  // namespace

void append_utf8(TextBuffer& out, std::u16string_view text) noexcept { append_all(out, text); }
void append_utf8(TextBuffer& out, std::u32string_view text) noexcept { append_all(out, text); }
void append_utf8(TextBuffer& out, std::wstring_view text) noexcept { append_all(out, text); }

}}  // namespace tracing::v1
