// Framework: what testlog needs to know of a test framework, and what the framework does for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/settings.h"

namespace testlog { inline namespace v1 { namespace framework {

/// What the framework does for testlog. The functions do nothing by default, for frameworks that lack the feature.
struct Framework {
  /// As recordings name it, with its version. By the name, testlog knows how a command line selects a test; names that
  /// it knows are `GoogleTest`, `Catch2` and `doctest`.
  std::string_view name{};
  std::string_view version{};
  /// Raises a failure, like an assertion that the test goes on after. Called on the thread that runs the tests, or that
  /// calls a function of testlog such as records().
  void (*raise_failure)(char const* file, int line, std::string const& message) = [](auto...) {};
  /// Records a property of the running test or, outside any test, of the run, for the framework's own files.
  void (*record_property)(std::string const& name, std::string const& value) = [](auto const&...) {};
  /// Returns true if the framework will write a file of results, which then has the failure report.
  bool (*writes_results)() = [] { return false; };
  /// Returns true in a child that was forked by a death test. Async-signal-safe.
  bool (*is_death_test_child)() noexcept = []() noexcept { return false; };
};

/// The purpose of the process, by its command line, which is read before main() runs. All texts live as long as the
/// program.
struct Process {
  int argc = 0;
  char const* const* argv = nullptr;
  bool lists_tests = false;       ///< lists tests and runs none: testlog prints and opens nothing
  bool death_test_child = false;  ///< child of a death test that executes the program again: prints nothing
  std::string_view color{};       ///< what the framework was asked for, as `yes`, `no` or `auto`; empty: nothing
  std::string_view only_test{};   ///< the only test that runs; empty if there may be several
  /// Returns true for arguments of the framework. Programs with other arguments of their own have recordings of their
  /// own.
  bool (*is_of_framework)(std::string_view argument) noexcept = [](std::string_view) noexcept { return true; };
};

/// What is known of a test before it runs.
struct Test {
  std::string_view name{};      ///< different from the names of the other tests of the program
  std::string_view headline{};  ///< of its reports: the name and what else helps, such as a parameter
  char const* file = nullptr;
  int line = 0;
  char const* value_param = nullptr;  ///< null if it has none
  char const* type_param = nullptr;   ///< null if it has none
};

/// A failure or a skip, on the thread and at the time where it happened.
struct Part {
  enum class Kind { failure, fatal_failure, skip };
  Kind kind = Kind::failure;
  char const* file = nullptr;  ///< null if it is unknown
  int line = 0;
  std::string_view message{};
  bool is_exception = false;  ///< an exception left the test
  bool ends_test = false;     ///< the framework ends the test, or the process, at once and without a further call

  bool is_failure() const noexcept { return kind != Kind::skip; }
};

struct Property {
  std::string name, value;
};

/// How a test ended.
struct Result {
  enum class Outcome { passed, failed, skipped };
  Outcome outcome = Outcome::passed;
  std::int64_t duration_ms = 0;
  std::vector<Property> properties{};

  bool failed() const noexcept { return outcome == Outcome::failed; }
};

/// One of several runs of the selected tests in a process.
struct Repetition {
  int number = 0;  ///< from 0
  int seed = 0;    ///< of the order; 0 if there is none
  int shards = 1, shard = 0;
};

/// How a run of the tests ended.
struct Totals {
  bool passed = true;
  bool ran_all = true;  ///< all tests but disabled ones were selected
  int tests = 0;        ///< that were selected
  int failed = 0;       ///< tests
};

/// Returns the framework of the process; until test_run::start(), one that does nothing.
Framework const& current() noexcept;
/// `framework` must live as long as the program.
void set_current(Framework const& framework) noexcept;

}}}  // namespace testlog::v1::framework
