// Properties that testlog gives to tests, for GoogleTest's XML and JSON files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace testing {
class TestInfo;
}  // namespace testing

namespace testlog { inline namespace v1 {

/// Records a property of the running test, unless the test itself has recorded a property with this name. Called by the
/// thread that runs the tests.
void record_property(testing::TestInfo const& test, std::string const& name, std::string const& value);

/// Returns the beginning of `text`, at most `limit` bytes, without colours. Escapes characters that XML 1.0 does not
/// allow, as `\x1b`. Cuts a longer text after a line or, if less than half of `limit` would be left, after a character,
/// and ends it with `...`.
std::string beginning_for_xml(std::string_view text, std::size_t limit);

}}  // namespace testlog::v1
