#include "tracing_core/inspect/folded.h"

#include <algorithm>
#include <charconv>

#include "tracing_core/inspect/read_lines.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 {
namespace {

constexpr std::string_view kLineBlanks = " \t\r\n\v\f";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kMaxPieceBytes = 60;

constexpr std::string_view kNoCount = "missing count; expected a line like `outer;inner 120`";
constexpr std::string_view kNoStack = "missing stack; expected a line like `outer;inner 120`";
constexpr std::string_view kNoNumber = "the count is not a whole number; expected a line like `outer;inner 120`";
constexpr std::string_view kNegative = "the count is negative; expected a line like `outer;inner 120`";
constexpr std::string_view kTooLarge = "the count is too large; expected at most 18446744073709551615";

bool all_digits(std::string_view text) noexcept { return text.find_first_not_of("0123456789") == text.npos; }

// Removes the last word, the count, from `line`. Returns the problem with it, if any.
std::string_view take_count(std::string_view& line, FoldedLine& out) noexcept {
  std::size_t const begin = line.find_last_of(kLineBlanks) + 1;  // 0 if `line` has only one word
  std::string_view const word = line.substr(begin);
  out.piece = word;
  std::size_t const point = std::min(word.find('.'), word.size());
  std::string_view const integer = word.substr(0, point);
  std::string_view const fraction = word.substr(std::min(point + 1, word.size()));
  if (integer.size() > 1 && integer.front() == '-' && all_digits(integer.substr(1)) && all_digits(fraction))
    return kNegative;
  if (integer.empty() || !all_digits(integer) || !all_digits(fraction)) return begin == 0 ? kNoCount : kNoNumber;
  if (std::from_chars(integer.data(), integer.data() + integer.size(), out.count).ec != std::errc()) return kTooLarge;
  out.cut = fraction.find_first_not_of('0') != fraction.npos;
  line = support::without_trailing(line.substr(0, begin), kLineBlanks);
  return line.empty() ? kNoStack : std::string_view();
}

}  // namespace

FoldedLine parse_folded_line(std::string_view line) noexcept {
  FoldedLine out;
  line = support::trimmed(line, kLineBlanks);
  if (line.empty() || line.front() == '#') return out;
  out.problem = take_count(line, out);
  out.kind = out.problem.empty() ? FoldedLine::Kind::stack : FoldedLine::Kind::bad;
  out.stack = line;
  return out;
}

std::string to_string(BadFoldedLine const& bad) {
  InlineTextBuffer<256> text;
  append_sanitized(text, bad.file);
  text.push_back(':');
  text.append_uint(bad.line);
  text.append(": ");
  if (!bad.piece.empty()) {
    text.push_back('\'');
    append_sanitized(text, bad.piece.substr(0, kMaxPieceBytes));
    text.append(bad.piece.size() > kMaxPieceBytes ? "...': " : "': ");
  }
  text.append(bad.problem);
  return std::string(text.view());
}

std::error_code read_folded(int file, std::string_view name, FoldedVisitor const& visitor) {
  std::uint64_t number = 0;
  return internal::read_lines(file, [&](std::string_view text) {
    if (++number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    FoldedLine const line = parse_folded_line(text);
    if (line.kind == FoldedLine::Kind::nothing) return;
    std::string_view const problem = line.kind == FoldedLine::Kind::bad ? line.problem : visitor.on_stack(line);
    if (!problem.empty()) visitor.on_bad({name, number, line.piece, problem});
  });
}

}}  // namespace tracing::v1
