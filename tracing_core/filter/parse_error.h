// Declares ParseError, what is wrong with a filter text, and how it is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracing::inline v1 {

/// What is wrong with one directive.
struct ParseError {
  std::string message;       ///< "invalid filter directive" or another fixed sentence
  std::string piece;         ///< the directive, without the blanks around it
  std::size_t position = 0;  ///< where the offending characters begin, in bytes from the start of the whole text
  std::size_t length = 0;    ///< how many bytes they are; 0 where something is missing
  std::string hint;          ///< what would be right
};

/// Shows the error under the text it was found in. The last line has no newline.
///
///     TRACE_FILTER: invalid filter directive
///       info,foo=debgu,bar=trace
///                ^~~~~ not a level; did you mean "debug"? levels are off, error, warn, info, debug, trace or 0 to 5
///
/// `origin` names where the text came from. Of a long text only the surroundings of the place are shown; control
/// characters and broken UTF-8 appear as `?`. The caret counts code points.
std::string render(ParseError const& error, std::string_view text, std::string_view origin);

}  // namespace tracing::inline v1
