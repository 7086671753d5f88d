// Finds the placeholders of an event's message and matches them with its arguments, at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/argument_text.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/format_spec.h"
#include "tracing_core/emit/statement.h"

namespace tracing { inline namespace v1 { namespace internal {

// Returns true if `written` is `name`. Unless `is_literal`, `->` in `written` counts as a dot.
constexpr bool same_name(std::string_view written, bool is_literal, std::string_view name) noexcept {
  std::size_t k = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    char c = written[i];
    if (c == '-' && !is_literal) {
      c = '.';
      ++i;
    }
    if (k == name.size() || name[k++] != c) return false;
  }
  return k == name.size();
}

constexpr std::size_t next_brace(char const* text, std::size_t i, std::size_t size) noexcept {
#if TRACING_INTERNAL_SEARCHES_ == 2
  return find_char(text, i, find_char(text, i, size, '{'), '}');
#elif TRACING_INTERNAL_SEARCHES_ == 1
  for (; i < size; ++i) {
    i += __builtin_strcspn(text + i, "{}");
    if (i >= size) return size;
    if (text[i] != '\0') return i;  // otherwise the NUL is inside the message
  }
  return size;
#else
  while (i < size && text[i] != '{' && text[i] != '}') ++i;
  return i;
#endif
}

// Finds placeholders, `{{` and `}}` in a message.
class MessageParser {
 public:
  constexpr MessageParser(StatementOutline& out, ParsedPlaceholder* placeholders, std::size_t max_placeholders,
                          ParsedValue* values) noexcept
      : out_(out),
        text_(out.text.message),
        size_(out.text.message_size),
        placeholders_(placeholders),
        values_(values),
        max_placeholders_(max_placeholders) {}

  constexpr void parse() noexcept {
    std::size_t skipped = 0;
    for (std::size_t i = next_brace(text_, 0, size_); i < size_; i = next_brace(text_, i, size_)) {
      char const c = text_[i];
      if (text_[i + 1] == c) {
        ++skipped;
        i += 2;
      } else if (c == '}') {
        return out_.fail(Mistake::unmatched_brace);
      } else {
        std::size_t const next = placeholder(i + 1, i - skipped);
        if (out_.mistake != Mistake::none) return;
        skipped += next - i;
        i = next;
      }
    }
    out_.literal_size = static_cast<std::uint32_t>(size_ - skipped);
  }

 private:
  enum class Numbering : std::uint8_t { unknown, automatic, manual };

  // Takes the index after the opening brace; returns the index after the closing brace.
  constexpr std::size_t placeholder(std::size_t i, std::size_t offset) noexcept {
    if (out_.placeholder_count == max_placeholders_ && max_placeholders_ > 0) return fail(Mistake::too_many_arguments);
    ParsedPlaceholder& placeholder = placeholders_[out_.placeholder_count];
    std::size_t const begin = i;
    while (i < size_ && text_[i] != '}' && text_[i] != ':' && text_[i] != '{') ++i;
    if (i >= size_ || text_[i] == '{') return fail(Mistake::unmatched_brace);
    placeholder.offset = static_cast<std::uint32_t>(offset);
    placeholder.value_index = i == begin ? next_argument() : argument({text_ + begin, i - begin});
    if (text_[i] == ':') i = specification(i + 1, placeholder);
    ++out_.placeholder_count;
    return i + 1;
  }

  // Parses a specification from `i` on; returns the index of the closing brace.
  constexpr std::size_t specification(std::size_t i, ParsedPlaceholder& placeholder) noexcept {
    std::size_t const begin = i;
    for (i = next_brace(text_, i, size_); i < size_ && text_[i] == '{'; i = next_brace(text_, i, size_)) {
      std::size_t const id = ++i;
      while (i < size_ && text_[i] != '}') ++i;
      if (i >= size_) return fail(Mistake::unmatched_brace);
      nested(placeholder, argument({text_ + id, i - id}));
      if (out_.mistake != Mistake::none) return i;
      ++i;
    }
    if (i >= size_) return fail(Mistake::unmatched_brace);
    placeholder.spec_begin = static_cast<std::uint16_t>(begin);
    placeholder.spec_end = static_cast<std::uint16_t>(i);
    // A nested `{}` is stored with its number, which has at most two digits.
    out_.characters += i - begin + std::size_t{2} * placeholder.nested_count;
    if (out_.mistake != Mistake::none) return i;
    std::uint8_t const at = values_[placeholder.value_index].argument;
    placeholder.is_own = out_.arguments[at].format == FormatAs::own && i > begin && text_[i - 1] != '?';
    if (!spec_fits(text_ + begin, i - begin, out_.arguments[at].format)) {
      out_.fail(Mistake::wrong_spec, std::size_t{at} + 1);
    }
    return i;
  }

  constexpr void nested(ParsedPlaceholder& placeholder, std::uint8_t value_index) noexcept {
    if (out_.mistake != Mistake::none) return;
    std::uint8_t const at = values_[value_index].argument;
    bool const fits = out_.arguments[at].format == FormatAs::integer && placeholder.nested_count < 2;
    if (!fits) return out_.fail(Mistake::wrong_spec, std::size_t{at} + 1);
    placeholder.nested[placeholder.nested_count++] = value_index;
  }

  constexpr std::size_t fail(Mistake mistake) noexcept {
    out_.fail(mistake);
    return size_;
  }

  // Returns the index of the value of `{}`, `{2}` or `{name}`. Marks the value as used, unless the placeholder has a
  // name.
  constexpr std::uint8_t argument(std::string_view id) noexcept {
    if (id.empty()) return next_argument();
    if (is_digit(id[0])) return numbered(id);
    for (std::uint8_t i = 0; i < out_.value_count; ++i) {
      ParsedValue const& value = values_[i];
      ArgumentInfo const& traits = out_.arguments[value.argument];
      std::string_view const written(out_.text.arguments + value.begin, std::size_t(value.end) - value.begin);
      bool const is_constant = traits.kind == ArgumentKind::constant_name;
      if (is_constant ? traits.name == id : value.is_name && same_name(written, value.is_named, id)) return i;
    }
    fail(Mistake::no_such_field);
    return 0;
  }

  constexpr std::uint8_t next_argument() noexcept { return use(next_++, Numbering::automatic); }

  constexpr std::uint8_t numbered(std::string_view id) noexcept {
    std::size_t index = 0;
    for (char c : id) {
      if (!is_digit(c)) return fail(Mistake::no_such_field), std::uint8_t{0};
      if (index > kMaxArguments) break;
      index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return use(index, Numbering::manual);
  }

  constexpr std::uint8_t use(std::size_t index, Numbering wanted) noexcept {
    if (numbering_ == Numbering::unknown) numbering_ = wanted;
    if (numbering_ != wanted) out_.fail(Mistake::mixed_numbering);
    if (index >= out_.value_count) out_.fail(Mistake::no_such_argument);
    if (out_.mistake != Mistake::none) return 0;
    values_[index].is_used = true;
    return static_cast<std::uint8_t>(index);
  }

  StatementOutline& out_;
  char const* text_;  // ends with a NUL
  std::size_t size_;
  ParsedPlaceholder* placeholders_;
  ParsedValue* values_;
  std::size_t max_placeholders_;
  std::size_t next_ = 0;
  Numbering numbering_ = Numbering::unknown;
};

}}}  // namespace tracing::v1::internal
