// The tests of a recording, by the marks that test programs write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

struct Test {
  std::string name;
  std::string value{};  ///< of a parameterised test, as GoogleTest prints it
  std::string type{};   ///< of a typed test
  Instant begin{};
  std::string result{};  ///< passed, failed or skipped; empty if the test did not end
  std::uint64_t duration_ms = 0;

  bool has_failed() const noexcept { return result.empty() || result == "failed"; }
};

/// Returns the tests by the tag of their entries. Reads the recording once if it has any.
std::map<std::uint32_t, Test> tests_of(Recording& recording);

bool is_test_begin(Entry const& entry) noexcept;
bool is_test_end(Entry const& entry) noexcept;
/// Returns a field of an entry as text, empty if the entry has none of this name.
std::string text_of_field(Entry const& entry, std::string_view name);

}}}  // namespace tracing::v1::recording
