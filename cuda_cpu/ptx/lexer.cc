#include "cuda_cpu/ptx/lexer.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace cuda_cpu::ptx {
namespace {

// What a character can be, in a table, because a module may have megabytes of text.
enum : std::uint8_t { kDigit = 1, kBeginsWord = 2, kContinuesWord = 4, kPunctuation = 8 };

constexpr std::array<std::uint8_t, 256> kCharacters = [] {
  std::array<std::uint8_t, 256> all{};
  for (char c = '0'; c <= '9'; ++c) all[static_cast<unsigned char>(c)] = kDigit | kContinuesWord;
  for (char c = 'a'; c <= 'z'; ++c) all[static_cast<unsigned char>(c)] = kBeginsWord | kContinuesWord;
  for (char c = 'A'; c <= 'Z'; ++c) all[static_cast<unsigned char>(c)] = kBeginsWord | kContinuesWord;
  for (char const c : std::string_view("_$")) all[static_cast<unsigned char>(c)] = kBeginsWord | kContinuesWord;
  all['%'] = kBeginsWord;
  for (char const c : std::string_view(",;:()[]{}<>=+-!@|~*/&^?")) all[static_cast<unsigned char>(c)] = kPunctuation;
  return all;
}();

bool is(char c, std::uint8_t what) noexcept { return (kCharacters[static_cast<unsigned char>(c)] & what) != 0; }
bool is_digit(char c) noexcept { return is(c, kDigit); }
bool begins_word(char c) noexcept { return is(c, kBeginsWord); }
bool continues_word(char c) noexcept { return is(c, kContinuesWord); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skip_space()) tokens_.push_back(next());
    tokens_.push_back({TokenKind::end, {}, line_, column(at_)});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  int column(std::size_t at) const noexcept { return static_cast<int>(at - line_begin_) + 1; }

  // Skips white space and comments. Returns false at the end of the text.
  bool skip_space() {
    for (;; ++at_) {
      if (at_ == text_.size()) return false;
      if (peek() == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        if (!skip_comment()) return true;
      } else if (peek() != ' ' && peek() != '\t' && peek() != '\r') {
        return true;
      }
    }
  }

  // Skips a comment. Returns false if it has no end; its '/' then becomes an invalid token.
  bool skip_comment() {
    std::size_t const end = text_.find("*/", at_ + 2);
    if (end == text_.npos) return false;
    for (; at_ < end + 1; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
    return true;
  }

  Token next() {
    std::size_t const begin = at_;
    char const c = peek();
    if (c == '"') return string();
    TokenKind kind = TokenKind::punctuation;
    if (begins_word(c) || (c == '.' && begins_word(peek(1)))) {
      kind = c == '.' ? TokenKind::directive : TokenKind::word;
      if (c == '.')
        directive();
      else
        word();
    } else if (is_digit(c)) {
      kind = TokenKind::number;
      number();
    } else {
      bool const is_open_comment = c == '/' && peek(1) == '*';
      if (!is(c, kPunctuation) || is_open_comment) kind = TokenKind::invalid;
      ++at_;
    }
    return {kind, text_.substr(begin, at_ - begin), line_, column(begin)};
  }

  // Reads a word with its modifiers: with dots, and with two colons as in "L1::evict_last".
  void word() {
    ++at_;
    while (continues_word(peek()) || (peek() == '.' && continues_word(peek(1))) ||
           (peek() == ':' && peek(1) == ':' && continues_word(peek(2)))) {
      at_ += peek() == ':' ? 2 : 1;
    }
  }

  void directive() {
    ++at_;
    while (continues_word(peek())) ++at_;
  }

  void number() {
    bool const hexadecimal =
        peek() == '0' && std::string_view("xXfFdD").find(peek(1)) != std::string_view::npos && peek(1) != '\0';
    while (continues_word(peek()) || (!hexadecimal && peek() == '.') ||
           (!hexadecimal && (peek() == '+' || peek() == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
  }

  Token string() {
    std::size_t const begin = at_ + 1;
    std::size_t const end = text_.find_first_of("\"\n", begin);
    bool const closed = end != text_.npos && text_[end] == '"';
    Token const token{closed ? TokenKind::text : TokenKind::invalid,
                      closed ? text_.substr(begin, end - begin) : text_.substr(at_, 1), line_, column(at_)};
    at_ = closed ? end + 1 : at_ + 1;
    return token;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return Lexer(text).run();
}

}  // namespace cuda_cpu::ptx
