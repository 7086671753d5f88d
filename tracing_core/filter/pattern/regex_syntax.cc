#include "tracing_core/filter/pattern/regex_syntax.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// The content of a class between its brackets.
constexpr std::string_view kUnicodeWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})"
    R"(\x{200C}\x{200D})";
constexpr std::string_view kUnicodeSpace =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view kUnicodeNotSpace =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027})"
    R"(\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";

// Returns the content of the class that `\d`, `\D`, `\s`, `\S` or `\w` means; for `\W`, the content of its complement.
// Nothing for other escapes.
std::string_view unicode_class(char c) noexcept {
  switch (c) {
    case 'd': return R"(\p{Nd})";
    case 'D': return R"(\P{Nd})";
    case 's': return kUnicodeSpace;
    case 'S': return kUnicodeNotSpace;
    case 'w':
    case 'W': return kUnicodeWord;
    default: return {};
  }
}

bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Translates the pattern in one pass. Every member reads at pos_ and advances it.
class Translator {
 public:
  Translator(std::string_view in, std::string& error) : in_(in), error_(error) { out_.reserve(in.size() + 16); }

  std::optional<std::string> run() {
    while (pos_ < in_.size()) {
      char const c = in_[pos_];
      if (c == '\\') {
        if (!escape(false)) return std::nullopt;
      } else if (c == '[') {
        if (!bracket_class()) return std::nullopt;
      } else if (c == '(') {
        if (!open_group()) return std::nullopt;
      } else if (c == ')') {
        if (!outer_.empty()) flags_ = outer_.back(), outer_.pop_back();
        copy(1);
      } else if (flags_.verbose && is_blank(c)) {
        ++pos_;
      } else if (flags_.verbose && c == '#') {
        while (pos_ < in_.size() && in_[pos_] != '\n') ++pos_;
      } else {
        copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  struct Flags {
    bool unicode = true;
    bool verbose = false;
  };

  // Copies `count` bytes, or what is left of the pattern: it may end in a backslash.
  void copy(std::size_t count) {
    std::string_view const part = in_.substr(pos_, count);
    out_ += part;
    pos_ += part.size();
  }
  bool fail(std::string_view why) {
    error_ = why;
    return false;
  }
  char at(std::size_t index) const { return index < in_.size() ? in_[index] : '\0'; }

  // Translates `(` with its flags or name. Flags without a colon apply until the enclosing group ends.
  bool open_group() {
    std::string_view const rest = in_.substr(pos_);
    for (std::string_view const look : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (rest.starts_with(look)) return fail("look-around is not supported");
    }
    if (rest.starts_with("(?<")) {
      outer_.push_back(flags_);
      out_ += "(?P";
      pos_ += 2;
      return true;
    }
    std::size_t const first = pos_ + 2;
    std::size_t const end = at(pos_ + 1) == '?' ? in_.find_first_not_of("-imsuxU", first) : in_.npos;
    bool const scoped = at(end) == ':';
    if (!scoped && at(end) != ')') {
      outer_.push_back(flags_);
      copy(1);
      return true;
    }
    if (scoped) outer_.push_back(flags_);
    std::string on, off;
    bool negated = false;
    for (char const c : in_.substr(first, end - first)) {
      switch (c) {
        case '-': negated = true; break;
        case 'u': flags_.unicode = !negated; break;
        case 'x': flags_.verbose = !negated; break;
        default: (negated ? off : on) += c;
      }
    }
    pos_ = end + 1;
    if (!scoped && on.empty() && off.empty()) return true;
    out_.append("(?").append(on);
    if (!off.empty()) out_.append("-").append(off);
    out_ += scoped ? ':' : ')';
    return true;
  }

  // Translates `\...`.
  bool escape(bool in_brackets) {
    char const c = at(pos_ + 1);
    if (c == 'x' || c == 'u' || c == 'U') return code_point(c);
    if (std::string_view const content = flags_.unicode ? unicode_class(c) : ""; !content.empty()) {
      if (in_brackets && c == 'W') return fail("\\W inside brackets is not supported; write [^\\w]");
      if (!in_brackets) out_ += c == 'W' ? "[^" : "[";
      out_ += content;
      if (!in_brackets) out_ += ']';
      pos_ += 2;
      return true;
    }
    if (c == 'b' && at(pos_ + 2) == '{') return fail("\\b{...} is not supported");
    if (c >= '1' && c <= '9') return fail("backreferences are not supported");
    // RE2 reads these as a quotation, a byte and an octal number.
    if (c == 'Q' || c == 'C' || c == '0') return fail(std::string("unknown escape: \\") + c);
    copy(2);
    return true;
  }

  // Translates `\x41`, `\u0041`, `\U00000041` and `\x{..}`, `\u{..}`, `\U{..}`. RE2 checks the digits.
  bool code_point(char kind) {
    bool const braced = at(pos_ + 2) == '{';
    std::size_t const begin = pos_ + (braced ? 3 : 2);
    std::size_t const end = braced ? in_.find('}', begin) : begin + (kind == 'x' ? 2 : kind == 'u' ? 4 : 8);
    std::string_view const digits = end > in_.size() ? "}" : in_.substr(begin, end - begin);
    if (digits.find('}') != digits.npos) return fail("invalid code point after a backslash");
    out_.append("\\x{").append(digits).append("}");
    pos_ = end + (braced ? 1 : 0);
    return true;
  }

  // Translates `[...]`.
  bool bracket_class() {
    copy(at(pos_ + 1) == '^' ? 2 : 1);
    for (bool first = true; pos_ < in_.size() && (first || in_[pos_] != ']'); first = false) {
      if (!class_item(first)) return false;
    }
    copy(1);
    return true;
  }

  bool class_item(bool first) {
    char const c = in_[pos_], next = at(pos_ + 1);
    if (c == '\\') return escape(true);
    if (c == '[') {
      std::size_t const end = next == ':' ? in_.find(":]", pos_ + 2) : in_.npos;
      if (end == in_.npos) return fail("a [ inside brackets is not supported; write \\[");
      copy(end + 2 - pos_);
    } else if (!first && (c == '&' || c == '-' || c == '~') && next == c && at(pos_ + 2) != ']') {
      return fail("set operations inside brackets are not supported");
    } else if (flags_.verbose && is_blank(c)) {
      ++pos_;
    } else {
      copy(1);
    }
    return true;
  }

  std::string_view const in_;
  std::string& error_;
  std::size_t pos_ = 0;
  std::string out_;
  Flags flags_;
  std::vector<Flags> outer_;  // flags outside of the open groups
};

}  // namespace

std::optional<std::string> to_re2_syntax(std::string_view pattern, std::string& error) {
  return Translator(pattern, error).run();
}

}}}  // namespace tracing::v1::internal
