#include "cuda_cpu/ptx/lexer.h"

#include <cstddef>

namespace cuda_cpu::ptx {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool begins_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool continues_word(char c) noexcept { return (begins_word(c) && c != '%') || is_digit(c); }

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
      if (std::string_view(",;:()[]{}<>=+-!@|~*/&^?").find(c) == std::string_view::npos || is_open_comment)
        kind = TokenKind::invalid;
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
