// Profiles: the files of TRACE_PERFETTO and TRACE_XPLANE of a test program.
#pragma once

#include <string>

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "tracing_core/environment/profile_outputs.h"

namespace testlog { inline namespace v1 {

/// Writes the profile of each test, or of the whole program with a slice for each test. Used by the thread that runs
/// the tests.
class Profiles {
 public:
  Profiles(Environment const& environment, Output& output, Attribution const& attribution, Capture const& capture)
      : files_(environment, output), attribution_(attribution), capture_(capture) {}

  /// Makes the files of the test that ends, if it has records.
  void end_test(TestTag test, std::string const& name) const;
  /// Makes the files of the program, and the files of records outside any test. `program` is its name.
  void finish(std::string const& program, std::string const& outside_tests) const;

 private:
  void write_test(tracing::recording::Recording& recording, TestTag test, std::string const& name) const;

  tracing::environment::ProfileOutputs const files_;
  Attribution const& attribution_;
  Capture const& capture_;
};

}}  // namespace testlog::v1
