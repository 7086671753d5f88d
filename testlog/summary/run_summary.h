// RunSummary: the facts of a run of tests, and the words in which they are reported, on a terminal, in CI and on a
// page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace testlog::summary {

enum class Result : std::uint8_t {
  passed,
  skipped,
  failed,      ///< an assertion failed
  crashed,     ///< a signal such as SIGSEGV ended the process
  hung,        ///< the test reported that it still ran, and did not end, as after a timeout
  unfinished,  ///< the process ended before the test did, without a sign of a crash or a hang
};
/// Returns `passed`, `skipped`, `failed`, `crashed`, `hung` or `did not end`.
std::string_view name(Result result) noexcept;
constexpr bool is_failure(Result result) noexcept { return result >= Result::failed; }

/// One process that ran the test.
struct TestAttempt {
  int number = 1;  ///< 1 for the first of the run
  Result result = Result::passed;
  std::int64_t duration_ns = 0;  ///< 0 if it did not end by itself
  std::string recording{};       ///< its path; empty if it was not kept
  std::string message{};         ///< of its first failure
};

/// A test of a run. The failure is the first one of the last attempt that did not pass; its members are empty if all
/// attempts passed, or if no recording tells. Texts are as recorded: they may have any bytes.
struct TestOutcome {
  std::string name{};     ///< `Pool.Grows`; empty: it happened outside any test
  std::string program{};  ///< `mylib_test`
  std::uint32_t tag = 0;  ///< of its records in `recording`
  std::string key{};      ///< the name of its recording without `.rec`, `mylib_test.Pool.Grows`
  std::string ctest{};    ///< the test of ctest, if it ran the whole program; `key` is this name, `.` and the program
  Result result = Result::passed;
  bool is_flaky = false;                ///< it passed after attempts that did not
  std::int64_t duration_ns = 0;         ///< of the last attempt
  std::vector<TestAttempt> attempts{};  ///< in their order; empty if the run has no log
  std::string recording{};              ///< the recording of the failure or, if the test passed, of the test; or empty
  std::string command{};                ///< the command line of its process
  std::string framework{};              ///< of its tests, `Catch2 3.7.1`; empty for GoogleTest
  std::string directory{};              ///< the current folder of its process
  std::string file{};                   ///< of the failing assertion or, without one, of the test; as compiled
  int line = 0;
  /// The first line of the failure, a signal such as `SIGSEGV`, `hung`, `the process called exit()` or `did not end`.
  std::string how{};
  std::string message{};    ///< all lines of the failure, or why the test was skipped
  std::string place{};      ///< of the first failing assertion: `pool_test.cc:21`, without folders; or empty
  std::string span_path{};  ///< the spans around the failure, outermost first: `request{id=7}:load`
  std::string spans{};      ///< their names: `request:load`
  std::string error{};      ///< the last event of level ERROR in the test before its failure: `load: cannot read a.bin`
  std::string error_place{};  ///< the statement that made `error`: `load.cc:88`
};

/// Failures with the same innermost span and the same error or, without an error, the same assertion.
struct Cause {
  std::string text{};                ///< `request:load: cannot read a.bin`
  std::vector<std::size_t> tests{};  ///< indices of RunSummary::tests
  std::vector<std::string> why{};    ///< the first differences from passing runs, as `testlog why` prints them
};

struct RunSummary {
  std::string id{};                  ///< of its ctest; empty if it is not known
  std::string folder{};              ///< of the recordings; empty for a program that runs alone
  std::vector<TestOutcome> tests{};  ///< by name of program, then of test
  std::size_t test_count = 0;        ///< of GoogleTest; `tests` may have one entry for a program that passed
  std::size_t failed_count = 0, flaky_count = 0;
  std::size_t unread = 0;               ///< recordings of failures that were not read because there are too many
  std::vector<Cause> causes{};          ///< the causes with most tests first
  std::vector<std::string> commands{};  ///< that tell more: `testlog why`, `testlog show --failed`

  bool is_green() const noexcept { return failed_count == 0 && flaky_count == 0; }
};

/// Returns the causes of tests that failed and whose failure is known, the causes with most tests first.
std::vector<Cause> causes_of(std::vector<TestOutcome> const& tests);
/// Returns Cause::text of a test that failed; empty if its failure is not known.
std::string text_of_cause(TestOutcome const& test);

// ---- the words ----

/// Returns the name of a test for people. What failed outside of tests is named by its recording:
/// `pool_test.Pool.Grows (outside any test)`.
std::string name_of(TestOutcome const& test);
/// Returns `7 of 11 tests failed, 1 flaky`.
std::string counts_of(RunSummary const& run);
/// Returns `Pool.Grows, Pool.Drains, ...`.
std::string names_of(RunSummary const& run, Cause const& cause, std::size_t max_names = 3);
/// Returns `attempt 1 failed, attempt 2 passed`; empty if the test is not flaky.
std::string flaky_text(TestOutcome const& test);
/// Returns the beginning of a text, at most `max_bytes`; a longer one ends with `...`. No character of UTF-8 is cut.
std::string cut(std::string_view text, std::size_t max_bytes);
/// Returns a text on one line, each run of white space as one blank, at most `max_bytes`; a longer one ends with `...`.
std::string on_one_line(std::string_view text, std::size_t max_bytes);
/// Returns a word as a shell reads it, in quotes if it needs any. Characters that change a terminal are escaped, so a
/// name that has any is shown but not found.
std::string shell_word(std::string_view text);
/// Returns the argument, as a shell reads it, that makes a test program run these tests only: `--gtest_filter=A.b:C.d`.
/// `framework` is the name of its framework, with or without a version; empty: GoogleTest.
std::string selection_of(std::string_view framework, std::vector<std::string> const& tests);

/// Returns the command that runs the test again: `ctest -R Pool.Grows`, or the program itself for a test with a
/// parameter, which CTest knows by another name. Of a program that ctest runs as a whole, all tests run again, since an
/// earlier test may be at fault.
std::string rerun_command(TestOutcome const& test);
/// Returns the lines with which a run ends, for a terminal; empty if no test failed or is flaky.
std::string text_of(RunSummary const& run);

}  // namespace testlog::summary
