// Declares how folded stacks are read: lines `outer;inner 120`, what flame graphs are drawn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace tracing::inline v1 {

/// What stands behind a stack.
enum class FoldedColumns {
  count,             ///< how much was counted there: nanoseconds, samples, bytes
  before_and_after,  ///< that of two runs, as difffolded.pl and inferno-diff-folded write them
};

/// What a line of a folded file says. Refers to the line.
struct FoldedLine {
  enum class Kind {
    stack,
    nothing,  ///< a blank line, or a comment, which begins with `#`
    bad,
  };
  Kind kind = Kind::nothing;
  std::string_view stack;    ///< frames from the outside in, with `;` between them
  std::uint64_t count = 0;   ///< of the later run where there are two
  std::uint64_t before = 0;  ///< of the earlier run
  bool cut = false;          ///< a fraction that was not zero was cut from a count
  std::string_view piece;    ///< of a bad line: what it cannot be read for, perhaps nothing
  std::string_view problem;  ///< of a bad line: what is wrong with it and what would be right; lives for ever
};

/// Reads one line, with or without its end. Blanks around the stack and the counts are dropped, a fraction of a count is
/// cut. Never fails. Thread-safe.
FoldedLine parse_folded_line(std::string_view line, FoldedColumns columns = FoldedColumns::count) noexcept;

/// A line that could not be read.
struct BadFoldedLine {
  std::string_view file;
  std::uint64_t line = 0;  ///< from 1
  std::string_view piece;
  std::string_view problem;
};

/// `run.folded:12: 'x': the count has to be ...`, without a line end, safe for a terminal and short.
std::string to_string(BadFoldedLine const& bad);

/// Who is told of a file's lines. Views live until the function returns.
struct FoldedVisitor {
  /// A stack. Returns what is wrong with it where it cannot be taken, else nothing.
  std::function<std::string_view(FoldedLine const&)> on_stack;
  std::function<void(BadFoldedLine const&)> on_bad = [](BadFoldedLine const&) {};
};

/// Reads all lines from a file descriptor, in blocks: memory is that of the longest line, and that has a limit. `name`
/// stands for the file in what is told of bad lines. Returns why reading stopped before the end, if it did. Throws what
/// the visitor throws, and std::bad_alloc. Thread-safe.
std::error_code read_folded(int file, std::string_view name, FoldedColumns columns, FoldedVisitor const& visitor);

/// A longer line is a bad one.
inline constexpr std::size_t kLongestFoldedLine = 64 * 1024 * 1024;

}  // namespace tracing::inline v1
