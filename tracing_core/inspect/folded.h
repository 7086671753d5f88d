// read_folded(): reads folded stacks, lines `outer;inner 120`, from which flame graphs are drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// A parsed line of a folded file. Its views refer to the line.
struct FoldedLine {
  enum class Kind {
    stack,
    nothing,  ///< a blank line, or a comment, which begins with `#`
    bad,
  };
  Kind kind = Kind::nothing;
  std::string_view stack;    ///< frames from the outside in, separated by `;`
  std::uint64_t count = 0;   ///< of nanoseconds, samples or bytes
  bool cut = false;          ///< a nonzero fraction was cut from the count
  std::string_view piece;    ///< of a bad line: the offending part, perhaps empty
  std::string_view problem;  ///< of a bad line: what is wrong and what is expected; a string literal
};

/// Parses one line, with or without its end. Drops blanks around the stack and the count, and cuts a fraction from the
/// count. Never fails. Thread-safe.
FoldedLine parse_folded_line(std::string_view line) noexcept;

/// A line that could not be read.
struct BadFoldedLine {
  std::string_view file;
  std::uint64_t line = 0;  ///< from 1
  std::string_view piece;
  std::string_view problem;
};

/// Returns `run.folded:12: 'x': missing count; expected ...`, without a line end, short and safe for a terminal.
std::string to_string(BadFoldedLine const& bad);

/// Receives a file's lines. The views are valid during the call.
struct FoldedVisitor {
  /// Receives a stack. Returns the problem if the stack cannot be used, and an empty text otherwise.
  std::function<std::string_view(FoldedLine const&)> on_stack;
  std::function<void(BadFoldedLine const&)> on_bad = [](BadFoldedLine const&) {};
};

/// Reads all lines from a file descriptor. Takes memory for the longest line. Reports bad lines with `name` as the name
/// of the file. Returns the error that stopped reading before the end, if any. Throws what the visitor throws, and
/// std::bad_alloc. Thread-safe.
std::error_code read_folded(int file, std::string_view name, FoldedVisitor const& visitor);

}}  // namespace tracing::v1
