// recorded_tests_of(): reads what a recording says about the run of tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/format/event_format.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/tests.h"

namespace testlog::cli {

/// A test whose marks are in a recording.
struct RecordedTest : tracing::recording::Test {
  /// The names that CTest may give the test, with the value or the type of its parameter in place of the number.
  std::vector<std::string> ctest_names{};
};
/// The tests of a recording, by the tag of their records.
using RecordedTests = std::map<std::uint32_t, RecordedTest>;
RecordedTests recorded_tests_of(tracing::recording::Recording& recording);
/// Returns true if something failed outside any test, such as SetUpTestSuite().
bool has_failed_outside_tests(tracing::recording::Recording& recording);

using tracing::recording::is_test_begin;
using tracing::recording::is_test_end;
/// Returns true if the text of a mark is a line such as `---- Suite.Name ----`.
bool is_headline(tracing::recording::Entry const& mark) noexcept;
/// Returns the name of the test that a mark is about; empty if it is not about a test.
std::string test_of(tracing::recording::Entry const& mark);

/// Returns true if a name matches any of the patterns, which are separated by `:` and may have `*` and `?`, as in
/// --gtest_filter.
bool matches_any(std::string_view name, std::string_view patterns) noexcept;

/// Returns the text of a mark: a line, or several, each with its end. In text this is `---- Suite.Name ----`, or a
/// failure as GoogleTest prints it; in JSON, an object with the mark's fields, and its name as `kind`. Empty if the
/// format does not show the mark. REQUIRES: `mark` is of EntryType::mark.
std::string text_of_mark(tracing::recording::Entry const& mark, tracing::FormatOptions const& format);

}  // namespace testlog::cli
