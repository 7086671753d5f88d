// Finds the failures in recordings, and groups them by cause.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tracing_core/record/recording.h"

namespace testlog::cli {

/// A test that failed or did not end.
struct Failure {
  std::string test;   ///< empty: it happened outside any test
  std::string file;   ///< the recording
  std::string how;    ///< the first line of the failure, `did not end`, or a signal such as `SIGSEGV`
  std::string place;  ///< of the first failing assertion: `pool_test.cc:21`, without folders; empty if there is none
  std::string spans;  ///< the names of the spans around the first failure, outermost first: `request:load`
  std::string error;  ///< the last event of level ERROR in the test before its failure: `load: cannot read a.bin`
  std::string error_place;  ///< the statement that made `error`: `load.cc:88`
};

/// Returns the failures in a recording, by the order of the tests. Reads the recording once.
std::vector<Failure> failures_of(tracing::recording::Recording& recording, std::string const& file);

/// Failures with the same innermost span and the same error or, without an error, the same assertion.
struct FailureCause {
  std::string text;  ///< `request:load: cannot read a.bin`
  std::vector<Failure> failures;
};

/// Returns the causes, those with the most failures first.
std::vector<FailureCause> causes_of(std::vector<Failure> failures);

}  // namespace testlog::cli
