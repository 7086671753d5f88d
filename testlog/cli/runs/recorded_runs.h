// Finds the runs of tests whose recordings are in a folder, and says how their tests ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/model/instant.h"

namespace testlog::cli {

/// A run, and the folder in which testlog_discover_tests() let its tests record.
struct RecordedRun {
  std::filesystem::path folder;
  std::vector<std::string> ids;            ///< of the ctests that count as one run; empty without a log of runs
  tracing::Instant began;                  ///< recordings that began before belong to earlier runs
  tracing::Instant last;                   ///< when its last test began or ended
  tracing::Instant next_began{INT64_MAX};  ///< recordings that began from here on belong to later runs

  bool has(tracing::Instant start) const noexcept { return began <= start && start < next_began; }
};

/// Says why find_runs() finds none.
inline constexpr char kNoRun[] =
    "no run of ctest was found in or below the current folder; ctest keeps recordings of the tests that "
    "testlog_discover_tests() adds and whose programs link testlog::main or testlog::testlog";

/// Returns the runs in the build folders that are the current folder or up to four folders below it, the last run
/// first. A folder without a log of runs, which earlier versions of testlog did not write, counts as one run, and so
/// does a folder whose log cannot be read, which is reported.
std::vector<RecordedRun> find_runs();
/// Overload for one folder of recordings.
std::vector<RecordedRun> find_runs(std::filesystem::path const& folder);

/// Returns the run that `wanted` names: `latest`, an id, or else the beginning of an id. Throws std::runtime_error if
/// there is none, or more than one.
RecordedRun run_named(std::string const& command, std::string const& wanted);

/// Returns how many bytes of the disk a file takes.
std::uintmax_t bytes_on_disk(std::filesystem::path const& path);
/// Returns when a file was last written.
tracing::Instant time_written(std::filesystem::path const& path);

/// A test of ctest in a run. It is flaky if an attempt failed, or did not end, and a later attempt passed. A program
/// that ctest runs as one test has several tests of GoogleTest.
struct TestOfRun {
  std::string recording;   ///< the name of its recording
  std::string program;     ///< as in Attempt: programs in two folders may have one name, and tests of one name
  int failed_attempt = 0;  ///< the number of its last attempt that did not pass; 0 if there is none
  int passed_attempt = 0;  ///< the number of its last attempt if the test passed in it; otherwise 0
  std::vector<tracing::environment::RunLog::Attempt> attempts{};  ///< of its last ctest, in their order

  bool has_failed() const noexcept { return passed_attempt == 0; }
  bool is_flaky() const noexcept { return passed_attempt != 0 && failed_attempt != 0; }

  /// The tests of GoogleTest; 1 if the last attempt did not end by itself.
  std::size_t test_count() const noexcept;
  std::size_t failed_count() const noexcept;
  std::size_t flaky_count() const noexcept;
};

/// The attempts of a folder's tests, by its log of runs.
class Attempts {
 public:
  using Attempt = tracing::environment::RunLog::Attempt;
  explicit Attempts(std::filesystem::path const& folder);
  Attempts(Attempts const&) = delete;  // by_test_ points into all_
  Attempts& operator=(Attempts const&) = delete;

  /// Returns the tests of a run, sorted by name, each as its last ctest left it.
  std::vector<TestOfRun> tests_of(RecordedRun const& run) const;
  /// Returns the attempt that made the recording; null if the log has no such attempt.
  Attempt const* attempt_of(std::string const& file) const;
  /// Returns the first later attempt of the same ctest that passed; null if there is none.
  Attempt const* later_pass(Attempt const& attempt) const;
  /// Returns true if a ctest that began after the end of the attempt's ctest has run the test again.
  bool is_superseded(Attempt const& attempt) const;

 private:
  struct Times {
    tracing::Instant began{INT64_MAX}, ended{INT64_MIN};
  };
  using Test = std::pair<std::string, std::string>;  // the recording and the program
  std::vector<Attempt const*> const& of_same_test(Attempt const& attempt) const;

  std::vector<Attempt> all_;
  std::map<Test, std::vector<Attempt const*>> by_test_;
  std::map<std::string, std::vector<Attempt const*>> by_file_;
  std::map<std::string, Times> ctests_;  // by the id
};

/// Returns the recordings of the last passing attempts of the test that `file` is about, the latest first. They are in
/// the folder `passed` beside `file`.
std::vector<std::string> baseline_of(std::string const& file);

/// Returns the recordings of attempts after which, in the same run, an attempt of the same test passed.
std::set<std::string> flaky_of(std::vector<std::string> const& files);
/// Returns a line for each recording whose test failed, or did not end, and then passed in the same run.
std::string notes_on_flaky(std::string const& command, std::vector<std::string> const& files);

}  // namespace testlog::cli
