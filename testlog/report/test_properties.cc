#include "testlog/report/test_properties.h"

#include <algorithm>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/utf8.h"

namespace testlog { inline namespace v1 {

std::string beginning_for_xml(std::string_view text, std::size_t limit) {
  constexpr std::string_view kColor = "\x1b[", kMore = "...";
  std::string out;
  while (!text.empty()) {
    if (text.starts_with(kColor)) {
      text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
      continue;
    }
    std::string_view const character = text.substr(0, tracing::support::decode_utf8(text).size);
    tracing::InlineTextBuffer<16> allowed;
    if (character == "\n" || character == "\t") {
      allowed.append(character);
    } else {
      tracing::append_sanitized_in_line(allowed, character);
    }
    if (out.size() + allowed.view().size() > limit) break;
    out += allowed.view();
    text.remove_prefix(character.size());
  }
  if (text.empty()) return out;
  std::size_t const room = std::min(out.size(), limit - std::min(limit, kMore.size()));
  std::size_t const line_end = out.substr(0, room).rfind('\n') + 1;  // 0 if there is none
  // Keeps a part of a long line that follows a short line, such as the headline.
  out.resize(line_end >= limit / 2 ? line_end : tracing::support::char_start(out, room));
  return out.append(kMore);
}

}}  // namespace testlog::v1
