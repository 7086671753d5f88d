// Counts: how often each test came to each statement, and sums of fields. Unlike times, these numbers do not jitter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/record/recording.h"

namespace testlog::why {

/// Something that is counted. The texts have no control characters.
struct Counted {
  std::string test;    ///< empty outside of tests and in a program without tests
  std::string target;  ///< of the statement
  std::string site;    ///< the spans, and the message of an event: `request:load "took {}"`
  std::string what;    ///< `count`, or the name of a field whose values are added up
  friend auto operator<=>(Counted const&, Counted const&) = default;
};

/// Numbers of all tests. A number is nothing if it varies from run to run.
class Counts {
 public:
  /// Adds up the integers in fields of these names.
  explicit Counts(std::vector<std::string> fields = {}) : fields_(std::move(fields)) {}

  /// Adds the runs of a recording. Tests that did not pass are left out.
  void add(tracing::recording::Recording& recording);
  bool empty() const noexcept { return numbers_.empty(); }
  bool has_test(std::string_view test) const noexcept { return tests_.contains(test); }
  std::map<Counted, std::optional<std::uint64_t>> const& numbers() const noexcept { return numbers_; }
  /// Returns the number; 0 if it did not happen.
  std::optional<std::uint64_t> number_of(Counted const& counted) const;

  /// Returns a header line, then a line for each number, sorted.
  std::string text() const;
  /// Parses what text() returned. Returns nothing for any other text, and sets `error` to the reason.
  static std::optional<Counts> parse(std::string_view text, std::string& error);

 private:
  class Reader;
  using Run = std::map<Counted, std::uint64_t>;

  void add_run(std::string const& test, Run const& run);

  std::vector<std::string> fields_;
  std::map<Counted, std::optional<std::uint64_t>> numbers_;
  std::map<std::string, std::size_t, std::less<>> tests_;  // how many runs were added
};

/// Returns a line for each test in both whose numbers differ, and a line for each statement that several tests newly
/// reach or no longer reach. Empty if all numbers are equal.
std::string text_of_differences(Counts const& before, Counts const& now);

}  // namespace testlog::why
