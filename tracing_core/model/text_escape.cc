#include "tracing_core/model/text_escape.h"

#include <bit>
#include <cstring>

#include "tracing_core/model/text_scan.h"
#include "tracing_core/support/digits.h"
#include "tracing_core/support/unicode_escapes.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

static_assert(std::endian::native == std::endian::little, "the first byte of a word must be its lowest");

// Returns the number of bytes before the first byte that `test` finds.
template <internal::Word (*test)(internal::Word) noexcept>
std::size_t count_plain(std::string_view text) noexcept {
  constexpr std::size_t kWordSize = sizeof(internal::Word);
  std::size_t at = 0;
  for (; at + kWordSize <= text.size(); at += kWordSize) {
    auto const found = test(internal::load_word(text.data() + at)) & internal::kHighBits;
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  internal::Word last = internal::kOnes * ' ';
  std::memcpy(&last, text.data() + at, text.size() - at);
  auto const found = test(last) & internal::kHighBits;
  return found == 0 ? text.size() : at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
}

// Appends text, escaped as `Style` says. A style has `test`, which finds the bytes that may need an escape, and
// append_special(), which appends one such character, or a run of them, and returns its size.
template <class Style>
void append_escaped(TextBuffer& out, std::string_view text) noexcept {
  for (Style style; !text.empty();) {
    std::size_t const plain = count_plain<Style::test>(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(style.append_special(out, text));
  }
}

template <class Style>
void append_in_quotes(TextBuffer& out, std::string_view text) noexcept {
  out.push_back('"');
  append_escaped<Style>(out, text);
  out.push_back('"');
}

void append_byte_escapes(TextBuffer& out, std::string_view bytes) noexcept {
  for (char const c : bytes) {
    char* const end = out.reserve(4);
    if (end == nullptr) return;
    end[0] = '\\';
    end[1] = 'x';
    support::write_hex_byte(end + 2, static_cast<unsigned char>(c));
    out.commit(4);
  }
}

void append_code_point_escape(TextBuffer& out, char32_t code_point) noexcept {
  out.append("\\u{");
  for (int shift = (std::bit_width(static_cast<std::uint32_t>(code_point) | 1) - 1) / 4 * 4; shift >= 0; shift -= 4)
    out.push_back(support::kHexDigits[code_point >> shift & 15]);
  out.push_back('}');
}

// Appends `\` and the letter of `letters` whose index is the index of `c` in `characters`. Returns false if `c` is not
// in `characters`.
bool append_letter_escape(TextBuffer& out, char c, std::string_view characters, std::string_view letters) noexcept {
  auto const at = characters.find(c);
  if (at == std::string_view::npos) return false;
  out.push_back('\\');
  out.push_back(letters[at]);
  return true;
}

// Returns the size of the characters beyond ASCII at the start of `text` that need no escape.
template <class Style>
std::size_t count_wide(Style& style, std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && static_cast<unsigned char>(text[size]) >= 0x80) {
    auto const c = support::decode_utf8(text.substr(size));
    if (!c.valid || style.must_escape(c.value)) break;
    size += c.size;
  }
  return size;
}

// Appends the characters beyond ASCII at the start of `text` that need no escape. If the first character needs an
// escape, appends only this character, escaped. Returns the size of the appended part of `text`.
template <class Style>
std::size_t append_wide(Style& style, TextBuffer& out, std::string_view text) noexcept {
  if (auto const size = count_wide(style, text)) {
    out.append(text.substr(0, size));
    return size;
  }
  auto const c = support::decode_utf8(text);
  auto const bytes = text.substr(0, c.size);
  if (!c.valid) {
    style.append_invalid(out, bytes);
  } else if (style.must_escape(c.value)) {
    append_code_point_escape(out, c.value);
  } else {
    out.append(bytes);
  }
  return c.size;
}

class Quoted {
 public:
  static constexpr auto test = internal::needs_quoting;

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    constexpr std::string_view kCharacters("\"\\\n\t\r\0", 6);
    if (append_letter_escape(out, text.front(), kCharacters, "\"\\ntr0")) return 1;
    return append_wide(*this, out, text);
  }

  bool must_escape(char32_t code_point) noexcept {
    if (!run_.contains(code_point)) run_ = support::find_escape_run(code_point);
    return run_.escaped;
  }

  static void append_invalid(TextBuffer& out, std::string_view bytes) noexcept { append_byte_escapes(out, bytes); }

 private:
  support::CodePointRun run_;  // contains the last character that was looked up
};

// True for the characters with Unicode's property Bidi_Control.
constexpr bool is_bidirectional_control(char32_t c) noexcept {
  return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

class Sanitized {
 public:
  static constexpr auto test = internal::needs_sanitizing;

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    constexpr std::string_view kCommands = "\x1b\a\b\f\x7f";
    if (kCommands.find(text.front()) == std::string_view::npos) return append_wide(*this, out, text);
    append_byte_escapes(out, text.substr(0, 1));
    return 1;
  }

  static bool must_escape(char32_t code_point) noexcept { return code_point >= 0x80 && code_point <= 0x9F; }
  static void append_invalid(TextBuffer& out, std::string_view bytes) noexcept { append_byte_escapes(out, bytes); }
};

class SanitizedInLine {
 public:
  static constexpr auto test = internal::needs_sanitizing;

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    char const c = text.front();
    if (append_letter_escape(out, c, "\n\t\r", "ntr")) return 1;
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) return append_wide(*this, out, text);
    append_byte_escapes(out, text.substr(0, 1));
    return 1;
  }

  static bool must_escape(char32_t code_point) noexcept {
    return Sanitized::must_escape(code_point) || is_bidirectional_control(code_point) || code_point == 0x2028 ||
           code_point == 0x2029 || code_point == 0xFFFE || code_point == 0xFFFF;
  }
  static void append_invalid(TextBuffer& out, std::string_view bytes) noexcept { append_byte_escapes(out, bytes); }
};

class SanitizedLines : public SanitizedInLine {
 public:
  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    bool const stays = text.front() == '\t' || (text.front() == '\n' && text.size() > 1);
    if (!stays) return SanitizedInLine::append_special(out, text);
    out.append(text.front() == '\t' ? "\t" : "\n      ");
    return 1;
  }
};

class Json {
 public:
  static constexpr auto test = internal::needs_json_escape;

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    char const c = text.front();
    if (append_letter_escape(out, c, "\"\\\n\t\r\b\f", "\"\\ntrbf")) return 1;
    if (static_cast<unsigned char>(c) >= 0x20) return append_wide(*this, out, text);
    char escape[] = "\\u0000";
    support::write_hex_byte(escape + 4, static_cast<unsigned char>(c));
    out.append(escape);
    return 1;
  }

  static bool must_escape(char32_t) noexcept { return false; }
  static void append_invalid(TextBuffer& out, std::string_view) noexcept { out.append("\xEF\xBF\xBD"); }
};

// The style for JSON, whose only raw control characters are the line ends between its values. They stay as they are.
class SanitizedJson {
 public:
  static constexpr auto test = internal::needs_sanitizing;

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    auto const c = support::decode_utf8(text);
    if (c.value != 0x7f && !SanitizedInLine::must_escape(c.value)) return out.append(text.substr(0, c.size)), c.size;
    char escape[] = "\\u0000";
    support::write_hex_byte(escape + 2, static_cast<unsigned char>(c.value >> 8));
    support::write_hex_byte(escape + 4, static_cast<unsigned char>(c.value));
    out.append(escape);
    return c.size;
  }
};

}  // namespace

void append_quoted(TextBuffer& out, std::string_view text) noexcept { append_in_quotes<Quoted>(out, text); }
void append_sanitized(TextBuffer& out, std::string_view text) noexcept { append_escaped<Sanitized>(out, text); }
void append_sanitized_in_line(TextBuffer& out, std::string_view text) noexcept {
  append_escaped<SanitizedInLine>(out, text);
}
std::string sanitized_in_line(std::string_view text) {
  InlineTextBuffer<256> out;
  append_sanitized_in_line(out, text);
  return std::string(out.view());
}

void append_sanitized_lines(TextBuffer& out, std::string_view text) noexcept {
  append_escaped<SanitizedLines>(out, text);
}
void append_json_string(TextBuffer& out, std::string_view text) noexcept { append_in_quotes<Json>(out, text); }
void append_sanitized_json(TextBuffer& out, std::string_view json) noexcept {
  append_escaped<SanitizedJson>(out, json);
}

}}  // namespace tracing::v1
