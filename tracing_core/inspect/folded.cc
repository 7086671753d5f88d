#include "tracing_core/inspect/folded.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace tracing::inline v1 {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kMostOfPiece = 60;

constexpr std::string_view kNoCount = "there is no count behind a stack; a line is `outer;inner 120`";
constexpr std::string_view kNoStack = "there is no stack before the count; a line is `outer;inner 120`";
constexpr std::string_view kNoNumber = "the last word has to be a count, a whole number as in `outer;inner 120`";
constexpr std::string_view kNegative = "a count cannot be negative; a line is `outer;inner 120`";
constexpr std::string_view kTooLarge = "a count cannot be more than 18446744073709551615";
constexpr std::string_view kOneCount = "two counts are wanted, before and after, as in `outer;inner 100 120`";
constexpr std::string_view kTooLong = "a line cannot be longer than 64 MiB";

std::string_view without_blanks_behind(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool all_digits(std::string_view text) noexcept { return text.find_first_not_of("0123456789") == text.npos; }

// Takes the last word of `line`, which is to be a number. Returns what is wrong with it, else nothing; then what stands
// before it is left in `line`.
std::string_view take_number(std::string_view& line, FoldedLine& out, std::uint64_t& number) noexcept {
  std::size_t const begin = line.find_last_of(kBlanks) + 1;  // 0 where there is no blank
  std::string_view const word = line.substr(begin);
  out.piece = word;
  std::size_t const point = std::min(word.find('.'), word.size());
  std::string_view const whole = word.substr(0, point);
  std::string_view const fraction = word.substr(std::min(point + 1, word.size()));
  if (whole.size() > 1 && whole.front() == '-' && all_digits(whole.substr(1)) && all_digits(fraction)) return kNegative;
  if (whole.empty() || !all_digits(whole) || !all_digits(fraction)) return begin == 0 ? kNoCount : kNoNumber;
  if (std::from_chars(whole.data(), whole.data() + whole.size(), number).ec != std::errc()) return kTooLarge;
  if (fraction.find_first_not_of('0') != fraction.npos) out.cut = true;
  line = without_blanks_behind(line.substr(0, begin));
  return line.empty() ? kNoStack : std::string_view();
}

std::string_view take_numbers(std::string_view& line, FoldedColumns columns, FoldedLine& out) noexcept {
  std::string_view const problem = take_number(line, out, out.count);
  if (!problem.empty() || columns == FoldedColumns::count) return problem;
  std::string_view const before_problem = take_number(line, out, out.before);
  return before_problem == kNoNumber || before_problem == kNoCount ? kOneCount : before_problem;
}

// Finds the lines in one block after another. A line that two blocks share is put together in `rest_`.
class Lines {
 public:
  Lines(std::string_view name, FoldedColumns columns, FoldedVisitor const& visitor)
      : name_(name), columns_(columns), visitor_(visitor) {}

  void take_block(std::string_view block) {
    for (std::size_t end; (end = block.find('\n')) != block.npos; block.remove_prefix(end + 1)) {
      end_line(block.substr(0, end));
    }
    keep(block);
  }
  void finish() {
    if (!rest_.empty() || too_long_) end_line({});
  }

 private:
  void keep(std::string_view part) {
    too_long_ = too_long_ || part.size() > kLongestFoldedLine - rest_.size();
    if (too_long_) {
      rest_ = {};
    } else {
      rest_ += part;
    }
  }
  void end_line(std::string_view part) {
    ++number_;
    if (rest_.empty() && !too_long_) return take(part);
    keep(part);
    if (too_long_) {
      report({}, kTooLong);
    } else {
      take(rest_);
    }
    rest_.clear();
    too_long_ = false;
  }
  void take(std::string_view text) {
    if (number_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    FoldedLine const line = parse_folded_line(text, columns_);
    if (line.kind == FoldedLine::Kind::bad) return report(line.piece, line.problem);
    if (line.kind == FoldedLine::Kind::nothing) return;
    std::string_view const problem = visitor_.on_stack(line);
    if (!problem.empty()) report(line.piece, problem);
  }
  void report(std::string_view piece, std::string_view problem) { visitor_.on_bad({name_, number_, piece, problem}); }

  std::string_view const name_;
  FoldedColumns const columns_;
  FoldedVisitor const& visitor_;
  std::string rest_;
  bool too_long_ = false;  // the line that `rest_` would hold
  std::uint64_t number_ = 0;
};

}  // namespace

FoldedLine parse_folded_line(std::string_view line, FoldedColumns columns) noexcept {
  FoldedLine out;
  line = without_blanks_behind(line);
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  if (line.empty() || line.front() == '#') return out;
  out.problem = take_numbers(line, columns, out);
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
    append_sanitized(text, bad.piece.substr(0, kMostOfPiece));
    text.append(bad.piece.size() > kMostOfPiece ? "...': " : "': ");
  }
  text.append(bad.problem);
  return std::string(text.view());
}

std::error_code read_folded(int file, std::string_view name, FoldedColumns columns, FoldedVisitor const& visitor) {
  auto const block = std::make_unique_for_overwrite<char[]>(kBlockBytes);
  Lines lines(name, columns, visitor);
  for (;;) {
    ssize_t const size = ::read(file, block.get(), kBlockBytes);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {errno, std::generic_category()};
    if (size == 0) break;
    lines.take_block({block.get(), static_cast<std::size_t>(size)});
  }
  lines.finish();
  return {};
}

}  // namespace tracing::inline v1
