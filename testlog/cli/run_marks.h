// What a recording says about the run of tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tracing_core/format/event_format.h"
#include "tracing_core/record/reader.h"

namespace testlog::cli {

/// A test whose marks are in a recording.
struct RecordedTest {
  std::string name;
  std::string result{};  ///< passed, failed or skipped; empty if it did not end
  std::uint64_t duration_ms = 0;

  bool has_failed() const noexcept { return result.empty() || result == "failed"; }
};
/// The tests of a recording by the tag of their records.
using RecordedTests = std::map<std::uint32_t, RecordedTest>;
RecordedTests tests_of(tracing::internal::Recording& recording);
/// Whether something failed outside any test, such as SetUpTestSuite().
bool has_failed_outside_tests(tracing::internal::Recording& recording);

bool is_test_begin(tracing::internal::RecordEntry const& entry) noexcept;
bool is_test_end(tracing::internal::RecordEntry const& entry) noexcept;
/// Whether the text of a mark is a line such as `---- Suite.Name ----`.
bool is_headline(tracing::internal::RecordEntry const& mark) noexcept;
/// The name of the test that a mark is about; empty if it is about none.
std::string test_of(tracing::internal::RecordEntry const& mark);

/// Whether a name matches one of the patterns that `:` separates, with `*` and `?`, as in --gtest_filter.
bool matches_any(std::string_view name, std::string_view patterns) noexcept;

/// The line of a mark, or its lines, each with its end: `---- Suite.Name ----`, a failure as GoogleTest prints it; in JSON
/// an object with its name as `kind` and its fields. Empty if the format shows nothing of it. `mark` is of
/// RecordType::mark.
std::string text_of_mark(tracing::internal::RecordEntry const& mark, tracing::FormatOptions const& format);

}  // namespace testlog::cli
