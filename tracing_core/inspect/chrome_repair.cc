#include "tracing_core/inspect/chrome_repair.h"

#include <cstddef>
#include <string>

#include "tracing_core/inspect/read_lines.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kAroundRecords = " \t\r,[]";

// Returns true if the text is one object, judging by brackets and the ends of strings.
bool is_object(std::string_view text) noexcept {
  if (text.front() != '{') return false;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

std::error_code repair_chrome(int file, ChromeRepair& found, std::function<void(std::string_view text)> const& write) {
  found = {};
  std::string out;
  bool is_empty = true;
  std::error_code const error = internal::read_lines(file, [&](std::string_view line) {
    std::size_t const begin = line.find_first_not_of(kBlanks);
    bool const is_first = is_empty && begin != line.npos;
    is_empty = is_empty && begin == line.npos;
    if (is_first) found.is_list = line[begin] == '[';
    if (!found.is_list || begin == line.npos) return;
    std::string_view const record = support::trimmed(line, kAroundRecords);
    bool const is_complete = record.empty() || is_object(record);
    found.was_closed = is_complete && line[line.find_last_not_of(kBlanks)] == ']';
    if (!is_complete) {
      ++found.left_out;
      found.bytes_left_out += record.size();
    } else if (!record.empty()) {
      out.append(found.records++ == 0 ? "[\n" : ",\n").append(record);
    }
    if (out.size() < kBlockBytes) return;
    write(out);
    out.clear();
  });
  if (is_empty && !error) found.is_list = true;
  if (found.is_list) write(out += found.records == 0 ? "[\n]\n" : "\n]\n");
  return error;
}

}}  // namespace tracing::v1
