// Splits a filter text at its commas. A comma separates directives unless it is inside a field list:
// `[s{a=1,b=2}]=info`. A `{` opens a field list only if it is closed, because a directive with an extra brace must not
// swallow the next directive: `[s{a]=info,foo=debug` consists of an invalid directive and a valid one. So the closing
// brace is searched first, and the search stops at an unambiguous end of the directive.
#include "tracing_core/filter/directive_scan.h"

#include <array>

#include "tracing_core/support/characters.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// After this many searches that reached the end of the text without a result, braces no longer protect commas. This
// keeps the time linear for hostile texts.
constexpr int kFruitlessSearches = 64;

bool is_blank(char32_t c) noexcept {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Returns the closing quote for the quote at `open`: the next one that no backslash precedes. Returns kNone if there is
// none, or if a word follows it directly.
std::size_t closing_quote(std::string_view text, std::size_t open) noexcept {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1 < text.size() && is_word_character(text[i + 1]) ? kNone : i;
    }
  }
  return kNone;
}

// True if the `>` at `index` is the end of `->` and therefore closes nothing.
bool ends_arrow(std::string_view text, std::size_t index) noexcept {
  return text[index] == '>' && index > 0 && text[index - 1] == '-';
}

// True if a directive may end after the `]` at `index`.
bool ends_span(std::string_view text, std::size_t index) noexcept {
  return index + 1 == text.size() || text[index + 1] == ',' || text[index + 1] == '=';
}

struct ListEnd {
  std::size_t index = kNone;
  bool searched_all = false;
};

ListEnd careful_list_end(std::string_view text, std::size_t open) noexcept {
  bool in_value = false;
  std::size_t braces = 0, brackets = 0, others = 0;  // open brackets; others: parentheses and angle brackets
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '}' && braces == 0) return {i};
    if (c == ']' && brackets == 0 && braces == 0 && ends_span(text, i)) return {};
    if (!in_value) {
      in_value = c == '=';
      braces = brackets = others = 0;
      continue;
    }
    switch (c) {
      case '\\': ++i; break;
      case '"':
        if (std::size_t const close = closing_quote(text, i); close != kNone) i = close;
        break;
      case '{': ++braces; break;
      case '}': --braces; break;
      case '[': ++brackets; break;
      case ']': brackets -= brackets > 0; break;
      case '(':
      case '<': ++others; break;
      case ')':
      case '>': others -= others > 0 && !ends_arrow(text, i); break;
      case ',': in_value = braces > 0 || brackets > 0 || others > 0; break;
      default: break;
    }
  }
  return {kNone, true};
}

// Returns the first of three characters at or after `begin`, or the end of the text. Uses a loop, since directives are
// short.
std::size_t find_any(std::string_view text, std::size_t begin, char a, char b, char c) noexcept {
  std::size_t i = begin;
  while (i < text.size() && text[i] != a && text[i] != b && text[i] != c) ++i;
  return i;
}

// Returns the end of the directive that begins at `begin`: a comma or the end of the text.
std::size_t directive_end(std::string_view text, std::size_t begin, int& fruitless) noexcept {
  std::size_t i = find_any(text, begin, '[', '=', ',');
  if (i < text.size() && text[i] == '[') {
    i = find_any(text, i + 1, ']', '{', ',');
    if (i < text.size() && text[i] == '{' && fruitless < kFruitlessSearches) {
      ListEnd const end = careful_list_end(text, i);
      fruitless += end.searched_all;
      if (end.index != kNone) i = end.index;
    }
  }
  return find_any(text, i, ',', ',', ',');
}

}  // namespace

Slice trim(std::string_view text, Slice slice) noexcept {
  text = text.substr(slice.begin, slice.size);
  auto const is_plain = [](char c) { return c > ' ' && c < 0x7F; };
  if (!text.empty() && is_plain(text.front()) && is_plain(text.back())) return slice;
  while (!text.empty()) {
    auto const c = decode_utf8(text);
    if (!c.valid || !is_blank(c.value)) break;
    text.remove_prefix(c.size);
    slice.begin += c.size;
  }
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && text.size() - last < 4 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    auto const c = decode_utf8(text.substr(last));
    if (!c.valid || c.size != text.size() - last || !is_blank(c.value)) break;
    text.remove_suffix(c.size);
  }
  slice.size = text.size();
  return slice;
}

std::vector<Slice> split_directives(std::string_view text) {
  std::vector<Slice> slices;
  slices.reserve(text.size() / 16 + 1);
  int fruitless = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = directive_end(text, begin, fruitless);
    Slice const slice = trim(text, {begin, end - begin});
    if (slice.size > 0) slices.push_back(slice);
    begin = end + 1;
  }
  return slices;
}

std::size_t field_list_end(std::string_view text, std::size_t open) {
  ListEnd const end = careful_list_end(text, open);
  return end.index != kNone ? end.index : text.find('}', open + 1);
}

std::vector<Slice> split_fields(std::string_view list) {
  // The commas that separate fields, unless a bracket protects them. Each open bracket stores how many commas precede
  // it; when it is closed, the commas after it are removed. A bracket that is never closed removes none.
  std::vector<std::size_t> commas;
  struct Open {
    char close;
    std::size_t commas_before;
  };
  std::vector<Open> open;
  std::array<std::size_t, 128> open_count{};  // indexed by the closing bracket, so that an unpaired one needs no search
  constexpr std::string_view kOpen = "([{<", kClose = ")]}>";
  bool in_value = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    char const c = list[i];
    if (c == ',') {
      commas.push_back(i);
      if (open.empty()) in_value = false;
    } else if (!in_value) {
      in_value = c == '=';
    } else if (c == '"') {
      if (std::size_t const close = closing_quote(list, i); close != kNone) i = close;
    } else if (std::size_t const kind = kOpen.find(c); kind != kOpen.npos) {
      char const close = kClose[kind];
      open.push_back({close, commas.size()});
      ++open_count[static_cast<std::size_t>(close)];
    } else if (kClose.find(c) != kClose.npos && !ends_arrow(list, i) && open_count[static_cast<std::size_t>(c)] > 0) {
      for (bool found = false; !found; open.pop_back()) {
        found = open.back().close == c;
        if (found) commas.resize(open.back().commas_before);
        --open_count[static_cast<std::size_t>(open.back().close)];
      }
    }
  }

  std::vector<Slice> fields;
  commas.push_back(list.size());
  std::size_t begin = 0;
  for (std::size_t comma : commas) {
    while (!fields.empty() && begin < comma && is_blank(static_cast<unsigned char>(list[begin]))) ++begin;
    fields.push_back({begin, comma - begin});
    begin = comma + 1;
  }
  return fields;
}

}}}  // namespace tracing::v1::internal
