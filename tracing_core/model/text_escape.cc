// Each style names the bytes it has to look at (`special`) and what becomes of them (`append_special`). Everything
// between is copied eight bytes at a time while it is scanned, so that text without any is read once and copied once.
#include "tracing_core/model/text_escape.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tracing_core/internal/digits.h"
#include "tracing_core/internal/unicode_escapes.h"
#include "tracing_core/internal/utf8.h"

namespace tracing::inline v1 {
namespace {

static_assert(std::endian::native == std::endian::little, "the first byte of a word must be its lowest");

using Word = std::uint64_t;

constexpr Word in_each_byte(unsigned char c) { return 0x0101010101010101u * c; }
constexpr Word kTopBits = in_each_byte(0x80);

// These set the top bit of the bytes asked for, and of some that are not ASCII, all of which are special to every style.
// A borrow may also set it in a byte above one that is rightly set: only the lowest set bit means anything.
constexpr Word bytes_below(Word word, unsigned char c) { return word - in_each_byte(c); }
constexpr Word bytes_equal(Word word, unsigned char c) { return (word ^ in_each_byte(c)) - in_each_byte(1); }
constexpr Word bytes_delete(Word word) { return (word & ~kTopBits) + in_each_byte(1); }

template <class T>
Word load(char const* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(char* to, Word word) noexcept {
  auto const value = static_cast<T>(word);
  std::memcpy(to, &value, sizeof value);
}

// One to seven bytes as the lowest of a word, in two overlapping pieces rather than in a loop.
Word copy_few(char const* from, std::size_t size, char* to) noexcept {
  if (size >= 4) {
    auto const low = load<std::uint32_t>(from);
    auto const high = load<std::uint32_t>(from + size - 4);
    store<std::uint32_t>(to, low);
    store<std::uint32_t>(to + size - 4, high);
    return low | high << 8 * (size - 4);
  }
  auto const low = load<std::uint8_t>(from);
  auto const middle = load<std::uint8_t>(from + size / 2);
  auto const high = load<std::uint8_t>(from + size - 1);
  to[0] = from[0];
  to[size / 2] = from[size / 2];
  to[size - 1] = from[size - 1];
  return low | middle << 8 * (size / 2) | high << 8 * (size - 1);
}

std::size_t first_marked(Word marks) noexcept { return static_cast<std::size_t>(std::countr_zero(marks)) / 8; }

template <class Style>
Word special_bytes(Word word) noexcept {
  return Style::special(word) & kTopBits;
}

// Copies `text` up to its first special byte; returns how many bytes that is. Those behind are scratch.
template <class Style>
std::size_t copy_plain(std::string_view text, char* to) noexcept {
  char const* const from = text.data();
  std::size_t const size = text.size();
  if (size == 0) return 0;
  if (size < sizeof(Word)) {
    Word const marks = special_bytes<Style>(copy_few(from, size, to));
    return marks == 0 ? size : std::min(size, first_marked(marks));  // the absent bytes read as NUL
  }
  auto const copy_word = [from, to](std::size_t at) {
    Word const word = load<Word>(from + at);
    store<Word>(to + at, word);
    return special_bytes<Style>(word);
  };
  std::size_t at = 0;
  for (; at + sizeof(Word) <= size; at += sizeof(Word)) {
    if (Word const marks = copy_word(at)) return at + first_marked(marks);
  }
  std::size_t const last = size - sizeof(Word);
  Word const marks = copy_word(last);
  return marks == 0 ? size : last + first_marked(marks);
}

// Appends all of `text`, whose first byte is special.
template <class Style>
[[gnu::noinline]] void append_from_special(TextBuffer& out, std::string_view text) noexcept {
  Style style;
  for (;;) {
    text.remove_prefix(style.append_special(out, text));
    char* const end = out.reserve(text.size());
    if (end == nullptr) return;
    std::size_t const plain = copy_plain<Style>(text, end);
    out.commit(plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
  }
}

template <class Style>
void append_escaped(TextBuffer& out, std::string_view text) noexcept {
  char* const begin = out.reserve(text.size());
  if (begin == nullptr) return;
  std::size_t const plain = copy_plain<Style>(text, begin);
  out.commit(plain);
  if (plain != text.size()) append_from_special<Style>(out, text.substr(plain));
}

template <class Style>
void append_in_quotes(TextBuffer& out, std::string_view text) noexcept {
  char* const begin = out.reserve(text.size() + 2);
  if (begin == nullptr) return;
  *begin = '"';
  std::size_t const plain = copy_plain<Style>(text, begin + 1);
  if (plain == text.size()) [[likely]] {
    begin[1 + plain] = '"';
    out.commit(plain + 2);
  } else {
    out.commit(plain + 1);
    append_from_special<Style>(out, text.substr(plain));
    out.push_back('"');
  }
}

void append_byte_escapes(TextBuffer& out, std::string_view bytes) noexcept {
  for (char const c : bytes) {
    char* const end = out.reserve(4);
    if (end == nullptr) return;
    end[0] = '\\';
    end[1] = 'x';
    internal::write_hex_byte(end + 2, static_cast<unsigned char>(c));
    out.commit(4);
  }
}

void append_code_point_escape(TextBuffer& out, char32_t code_point) noexcept {
  out.append("\\u{");
  for (int shift = (std::bit_width(static_cast<std::uint32_t>(code_point) | 1) - 1) / 4 * 4; shift >= 0; shift -= 4) {
    out.push_back(internal::kHexDigits[code_point >> shift & 15]);
  }
  out.push_back('}');
}

// Appends `\` and the letter that stands in `letters` where `c` stands in `characters`; false where it does not.
bool append_letter_escape(TextBuffer& out, char c, std::string_view characters, std::string_view letters) noexcept {
  auto const at = characters.find(c);
  if (at == std::string_view::npos) return false;
  out.push_back('\\');
  out.push_back(letters[at]);
  return true;
}

// How many bytes at the beginning of `text` are characters beyond ASCII that stay as they are.
template <class Style>
std::size_t count_wide(Style& style, std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && static_cast<unsigned char>(text[size]) >= 0x80) {
    auto const c = internal::decode_utf8(text.substr(size));
    if (!c.valid || style.must_escape(c.value)) break;
    size += c.size;
  }
  return size;
}

// Appends the characters beyond ASCII at the beginning of `text` up to the first to be escaped, or one character of any
// kind as it is or escaped; returns how many bytes of `text` that are.
template <class Style>
std::size_t append_wide(Style& style, TextBuffer& out, std::string_view text) noexcept {
  if (auto const size = count_wide(style, text)) {
    out.append(text.substr(0, size));
    return size;
  }
  auto const c = internal::decode_utf8(text);
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
  static constexpr Word special(Word word) noexcept {
    return word | bytes_below(word, ' ') | bytes_equal(word, '"') | bytes_equal(word, '\\') | bytes_delete(word);
  }

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    constexpr std::string_view kCharacters("\"\\\n\t\r\0", 6);
    if (append_letter_escape(out, text.front(), kCharacters, "\"\\ntr0")) return 1;
    return append_wide(*this, out, text);
  }

  bool must_escape(char32_t code_point) noexcept {
    if (!run_.contains(code_point)) run_ = internal::find_escape_run(code_point);
    return run_.escaped;
  }

  static void append_invalid(TextBuffer& out, std::string_view bytes) noexcept { append_byte_escapes(out, bytes); }

 private:
  internal::CodePointRun run_;  // of the last character asked for
};

class Sanitized {
 public:
  static constexpr Word special(Word word) noexcept { return word | bytes_below(word, ' ') | bytes_delete(word); }

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    constexpr std::string_view kCommands = "\x1b\a\b\f\x7f";
    if (kCommands.find(text.front()) == std::string_view::npos) return append_wide(*this, out, text);
    append_byte_escapes(out, text.substr(0, 1));
    return 1;
  }

  static bool must_escape(char32_t code_point) noexcept { return code_point >= 0x80 && code_point <= 0x9F; }
  static void append_invalid(TextBuffer& out, std::string_view bytes) noexcept { append_byte_escapes(out, bytes); }
};

class SanitizedInLine : public Sanitized {
 public:
  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    if (append_letter_escape(out, text.front(), "\n\t\r", "ntr")) return 1;
    if (static_cast<unsigned char>(text.front()) >= 0x20) return Sanitized::append_special(out, text);
    append_byte_escapes(out, text.substr(0, 1));
    return 1;
  }
};

class Json {
 public:
  static constexpr Word special(Word word) noexcept {
    return word | bytes_below(word, ' ') | bytes_equal(word, '"') | bytes_equal(word, '\\');
  }

  std::size_t append_special(TextBuffer& out, std::string_view text) noexcept {
    char const c = text.front();
    if (append_letter_escape(out, c, "\"\\\n\t\r\b\f", "\"\\ntrbf")) return 1;
    if (static_cast<unsigned char>(c) >= 0x20) return append_wide(*this, out, text);
    char escape[] = "\\u0000";
    internal::write_hex_byte(escape + 4, static_cast<unsigned char>(c));
    out.append(escape);
    return 1;
  }

  static bool must_escape(char32_t) noexcept { return false; }
  static void append_invalid(TextBuffer& out, std::string_view) noexcept { out.append("\xEF\xBF\xBD"); }
};

}  // namespace

void append_quoted(TextBuffer& out, std::string_view text) noexcept { append_in_quotes<Quoted>(out, text); }
void append_sanitized(TextBuffer& out, std::string_view text) noexcept { append_escaped<Sanitized>(out, text); }
void append_sanitized_in_line(TextBuffer& out, std::string_view text) noexcept { append_escaped<SanitizedInLine>(out, text); }
void append_json_string(TextBuffer& out, std::string_view text) noexcept { append_in_quotes<Json>(out, text); }

}  // namespace tracing::inline v1
