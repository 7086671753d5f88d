// Text as XML 1.0 takes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace testlog::summary {

/// Returns a text for the content of an element. Removes colors. Escapes control characters except tabs and line ends
/// as
/// `\x1b`, bytes that are not UTF-8 as `\xff`, and characters that XML does not allow as `\u{ffff}`.
std::string xml_text(std::string_view text);

/// Returns ` name="value"`, of at most `max_bytes` of the value before they are escaped. Line ends become `\n`.
std::string xml_attribute(std::string_view name, std::string_view value, std::size_t max_bytes = 1024);

}  // namespace testlog::summary
