#include "tracing_core/filter/regex_syntax.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tracing::inline v1::internal {
namespace {

// The content of a class inside of brackets.
constexpr std::string_view kUnicodeWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})"
    R"(\x{200C}\x{200D})";
constexpr std::string_view kUnicodeSpace =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view kUnicodeNotSpace =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027})"
    R"(\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";

// Long names of general categories. RE2 knows the short ones and the scripts.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"uppercase", "Lu"},
    {"lowercaseletter", "Ll"},
    {"lowercase", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"digit", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"privateuse", "Co"},
};

bool is_hex(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Translates the pattern in one pass. Every member reads at pos_ and advances it.
class Translator {
 public:
  Translator(std::string_view in, std::string& error) : in_(in), error_(error) { out_.reserve(in.size() + 16); }

  std::optional<std::string> run() {
    while (pos_ < in_.size()) {
      char const c = in_[pos_];
      if (c == '\\') {
        if (!escape()) return std::nullopt;
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

  void copy(std::size_t count) {
    out_ += in_.substr(pos_, count);
    pos_ += count;
  }
  bool fail(std::string_view why) {
    error_ = why;
    return false;
  }
  char at(std::size_t index) const { return index < in_.size() ? in_[index] : '\0'; }

  // `(` with its flags. Flags without a colon apply until the enclosing group ends.
  bool open_group() {
    if (at(pos_ + 1) != '?') {
      outer_.push_back(flags_);
      copy(1);
      return true;
    }
    char const kind = at(pos_ + 2), after = at(pos_ + 3);
    if (kind == '=' || kind == '!' || (kind == '<' && (after == '=' || after == '!'))) {
      return fail("look-around is not supported");
    }
    if (kind == '<') {
      outer_.push_back(flags_);
      out_ += "(?P<";
      pos_ += 3;
      return true;
    }
    if (kind == 'P') {
      outer_.push_back(flags_);
      copy(3);
      return true;
    }
    return flag_group();
  }

  bool flag_group() {
    Flags inner = flags_;
    std::string on, off;
    bool negated = false;
    std::size_t i = pos_ + 2;
    for (; i < in_.size() && in_[i] != ':' && in_[i] != ')'; ++i) {
      switch (in_[i]) {
        case '-':
          negated = true;
          break;
        case 'u':
          inner.unicode = !negated;
          break;
        case 'x':
          inner.verbose = !negated;
          break;
        case 'R':
          return fail("the flag R is not supported");
        default:
          (negated ? off : on) += in_[i];
      }
    }
    if (i == in_.size()) return fail("missing closing )");
    bool const scoped = in_[i] == ':';
    pos_ = i + 1;
    if (scoped) outer_.push_back(flags_);
    flags_ = inner;
    if (on.empty() && off.empty()) {
      if (scoped) out_ += "(?:";
      return true;
    }
    out_.append("(?").append(on);
    if (!off.empty()) out_.append("-").append(off);
    out_ += scoped ? ':' : ')';
    return true;
  }

  bool escape() {
    std::string inside;
    bool negated = false;
    switch (class_escape(inside, negated)) {
      case Escape::failed:
        return false;
      case Escape::unicode_class:
        out_.append(negated ? "[^" : "[").append(inside).append("]");
        return true;
      case Escape::character:
        out_ += inside;
        return true;
    }
    return true;
  }

  enum class Escape { character, unicode_class, failed };

  // Reads `\...` at pos_. Returns the bracket content of a Unicode class, and the RE2 text of everything else.
  Escape class_escape(std::string& inside, bool& negated) {
    char const c = at(pos_ + 1);
    if (c == 'x' || c == 'u' || c == 'U') return code_point(c, inside);
    if (c == 'p' || c == 'P') return property(inside);
    if (flags_.unicode && (c == 'd' || c == 'D' || c == 'w' || c == 'W' || c == 's' || c == 'S')) {
      pos_ += 2;
      negated = c < 'a';
      if (c == 'd' || c == 'D') {
        inside = c == 'd' ? R"(\p{Nd})" : R"(\P{Nd})";
        return Escape::character;
      }
      inside = c == 'w' || c == 'W' ? kUnicodeWord : kUnicodeSpace;
      return Escape::unicode_class;
    }
    if (c == 'b' && at(pos_ + 2) == '{') return fail("\\b{...} is not supported"), Escape::failed;
    if (c == 'Q' || c == 'E' || c == 'C' || c == 'Z') {
      return fail(std::string("unknown escape: \\") + c), Escape::failed;
    }
    if (c >= '0' && c <= '9') return fail("backreferences are not supported"), Escape::failed;
    std::size_t const size = pos_ + 1 < in_.size() ? 2 : 1;
    inside = in_.substr(pos_, size);
    pos_ += size;
    return Escape::character;
  }

  // `\x41`, `\u0041`, `\U00000041` and `\x{..}`, `\u{..}`, `\U{..}`.
  Escape code_point(char kind, std::string& inside) {
    std::size_t const width = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    std::size_t const first = pos_ + 2;
    bool const braced = at(first) == '{';
    std::size_t const begin = first + (braced ? 1 : 0);
    std::size_t end = begin;
    while (end < in_.size() && is_hex(in_[end]) && (braced || end < begin + width)) ++end;
    bool const complete = braced ? end > begin && at(end) == '}' : end == begin + width;
    std::string_view digits = in_.substr(begin, end - begin);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    if (!complete || digits.size() > 6) return fail("invalid code point after a backslash"), Escape::failed;
    inside.append("\\x{").append(digits).append("}");
    pos_ = end + (braced ? 1 : 0);
    return Escape::character;
  }

  // `\pL`, `\p{Letter}`, `\p{gc=Lu}`, `\p{Script=Greek}`, `\p{^Greek}` and their negations.
  Escape property(std::string& inside) {
    bool negated = at(pos_ + 1) == 'P';
    std::size_t begin = pos_ + 2, end = begin + 1, next = end;
    if (at(begin) == '{') {
      ++begin;
      end = in_.find('}', begin);
      if (end == std::string_view::npos) return fail("missing } after \\p{"), Escape::failed;
      next = end + 1;
    }
    if (begin >= in_.size()) return fail("a class name is missing after \\p"), Escape::failed;
    std::string_view name = in_.substr(begin, end - begin);
    if (!name.empty() && name.front() == '^') negated = !negated, name.remove_prefix(1);
    for (std::string_view prefix : {"gc=", "general_category=", "sc=", "script="}) {
      if (fold(name).starts_with(fold(prefix))) name = name.substr(name.find('=') + 1);
    }
    std::string const folded = fold(name);
    std::string_view known = name;
    for (auto const& [long_name, short_name] : kCategories) {
      if (folded == long_name) known = short_name;
    }
    if (folded == "any") known = "Any";
    if (folded == "alphabetic" || folded == "alpha") known = "L";
    inside.append(negated ? "\\P{" : "\\p{").append(known).append("}");
    pos_ = next;
    return Escape::character;
  }

  // Compares class names ignoring case, white space, hyphens and underscores.
  static std::string fold(std::string_view name) {
    std::string folded;
    for (char c : name) {
      if (c == ' ' || c == '-' || c == '_') continue;
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return folded;
  }

  // `[...]`. A negated class such as `\W` is not possible inside brackets and becomes an alternative to them.
  bool bracket_class() {
    bool const negated = at(pos_ + 1) == '^';
    std::string body;
    bool not_word = false;
    pos_ += negated ? 2 : 1;
    for (bool first = true; pos_ < in_.size() && (first || in_[pos_] != ']'); first = false) {
      if (!class_item(body, not_word)) return false;
    }
    if (pos_ >= in_.size()) return fail("missing closing ]");
    ++pos_;
    if (not_word && negated) return fail("\\W inside [^...] is not supported");
    if (not_word) {
      out_.append("(?:[^").append(kUnicodeWord).append("]");
      if (!body.empty()) out_.append("|[").append(body).append("]");
      out_ += ')';
    } else {
      out_.append(negated ? "[^" : "[").append(body).append("]");
    }
    return true;
  }

  bool class_item(std::string& body, bool& not_word) {
    char const c = in_[pos_], next = at(pos_ + 1);
    if (c == '[' && next == ':') {
      std::size_t const end = in_.find(":]", pos_ + 2);
      if (end == std::string_view::npos) return fail("missing :] after [:");
      body += in_.substr(pos_, end + 2 - pos_);
      pos_ = end + 2;
      return true;
    }
    if (c == '[') return fail("a [ inside brackets is not supported; write \\[");
    if ((c == '&' || c == '-' || c == '~') && next == c && at(pos_ + 2) != ']' && !body.empty()) {
      return fail("set operations inside brackets are not supported");
    }
    if (c == '\\') {
      std::string inside;
      bool negated = false;
      Escape const escape = class_escape(inside, negated);
      if (escape == Escape::failed) return false;
      if (escape == Escape::unicode_class && negated) {
        if (inside == kUnicodeWord) return not_word = true;
        inside = kUnicodeNotSpace;
      }
      body += inside;
      return true;
    }
    if (!(flags_.verbose && is_blank(c))) body += c;
    ++pos_;
    return true;
  }

  std::string_view const in_;
  std::string& error_;
  std::size_t pos_ = 0;
  std::string out_;
  Flags flags_;
  std::vector<Flags> outer_;  // of the groups that are open
};

}  // namespace

std::optional<std::string> to_re2_syntax(std::string_view pattern, std::string& error) {
  return Translator(pattern, error).run();
}

}  // namespace tracing::inline v1::internal
