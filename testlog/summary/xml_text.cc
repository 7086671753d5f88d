#include "testlog/summary/xml_text.h"

#include <algorithm>

#include "testlog/summary/run_summary.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::summary {
namespace {

std::string without_colors(std::string_view text) {
  constexpr std::string_view kColor = "\x1b[";
  std::string plain;
  while (!text.empty()) {
    std::string_view const before = text.substr(0, text.find(kColor));
    plain += before;
    text.remove_prefix(before.size());
    if (text.empty()) break;
    std::size_t const end = text.find_first_not_of("0123456789;", kColor.size());
    bool const is_color = end != text.npos && text[end] == 'm';
    if (!is_color) plain += kColor;
    text.remove_prefix(is_color ? end + 1 : kColor.size());
  }
  return plain;
}

void append_escaped(std::string& out, std::string_view text) {
  for (char const c : tracing::sanitized_in_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string const plain = without_colors(text);
  std::string out;
  for (std::string_view rest = plain; !rest.empty();) {
    std::string_view const part = rest.substr(0, rest.find_first_of("\t\n"));
    append_escaped(out, part);
    rest.remove_prefix(part.size());
    if (rest.empty()) break;
    out += rest.front();
    rest.remove_prefix(1);
  }
  return out;
}

std::string xml_attribute(std::string_view name, std::string_view value, std::size_t max_bytes) {
  std::string text = " ";
  text.append(name).append("=\"");
  append_escaped(text, cut(without_colors(value.substr(0, 4 * max_bytes)), max_bytes));
  return text + '"';
}

}  // namespace testlog::summary
