// What properties of tests say of reports, in XML and JSON files of test frameworks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace testlog { inline namespace v1 {

/// Returns the beginning of `text`, at most `limit` bytes, without colours. Escapes characters that XML 1.0 does not
/// allow, as `\x1b`. Cuts a longer text after a line or, if less than half of `limit` would be left, after a character,
/// and ends it with `...`.
std::string beginning_for_xml(std::string_view text, std::size_t limit);

}}  // namespace testlog::v1
