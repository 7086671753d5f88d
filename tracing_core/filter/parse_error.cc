#include "tracing_core/filter/parse_error.h"

#include <algorithm>

#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

using support::char_start;

constexpr std::size_t kShownBefore = 60;  // bytes of text shown around the error
constexpr std::size_t kShownAfter = 40;
constexpr std::string_view kCut = "...";

// Appends text, which may come from the user, in a form that a terminal shows on one line. Returns the width: one
// column per code point.
std::size_t append_shown(std::string& out, std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    auto const c = support::decode_utf8(text);
    if (!c.valid || c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0)) {
      out += '?';
    } else {
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
    ++columns;
  }
  return columns;
}

}  // namespace

std::string render(ParseError const& error, std::string_view text, std::string_view origin) {
  std::size_t const begin = std::min(error.position, text.size());
  std::size_t const end = begin + std::min({error.length, text.size() - begin, kShownAfter});
  std::size_t const marked_end = std::max(begin, char_start(text, end));
  std::size_t const first = begin > kShownBefore ? char_start(text, begin - kShownBefore) : 0;
  std::size_t const last = std::max(marked_end, char_start(text, std::min(text.size(), marked_end + kShownAfter)));

  std::string out;
  out.append(origin).append(": invalid filter directive\n  ");
  std::size_t indent = 2;
  if (first > 0) out += kCut, indent += kCut.size();
  indent += append_shown(out, text.substr(first, begin - first));
  std::size_t const width = append_shown(out, text.substr(begin, marked_end - begin));
  append_shown(out, text.substr(marked_end, last - marked_end));
  if (last < text.size()) out += kCut;
  out.append("\n").append(indent, ' ').append("^").append(width > 1 ? width - 1 : 0, '~');
  if (!error.hint.empty()) append_shown(out += ' ', error.hint);
  return out;
}

}}  // namespace tracing::v1
