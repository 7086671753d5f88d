// ParseError: an error in a filter text, and its message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// An error in one directive.
struct ParseError {
  std::string message;       ///< "invalid filter directive" or another fixed sentence
  std::string piece;         ///< the directive, trimmed
  std::size_t position = 0;  ///< start of the offending characters, in bytes from the start of the entire text
  std::size_t length = 0;    ///< number of offending bytes; 0 if something is missing
  std::string hint;          ///< a correction
};

/// Prints the error below the text that contains it, without a final newline.
///
///     TRACE_FILTER: invalid filter directive
///       info,foo=debgu,bar=trace
///                ^~~~~ not a level; did you mean "debug"? levels are off, error, warn, info, debug, trace or 0 to 5
///
/// `origin` is the source of the text. If the text is long, only the part around the error is shown. Control characters
/// and invalid UTF-8 appear as `?`. The position of the caret assumes one column per code point.
std::string render(ParseError const& error, std::string_view text, std::string_view origin);

}}  // namespace tracing::v1
