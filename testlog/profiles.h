// Profiles: the files of TRACE_PERFETTO and TRACE_XPLANE of a test program.
#pragma once

#include <string>

#include "testlog/attribution.h"
#include "testlog/capture.h"
#include "tracing_core/environment/profile_outputs.h"

namespace testlog::inline v1 {

/// Each test, or the whole program with a slice for each test. For the thread that runs the tests.
class Profiles {
 public:
  Profiles(Environment const& environment, Output& output, Attribution const& attribution, Capture const& capture)
      : files_(environment, output), attribution_(attribution), capture_(capture) {}

  /// Makes the files of the test that ends, if it has records.
  void end_test(TestTag test, std::string const& name) const;
  /// Makes those of the program, and of records that belong to no test. `program`: its name.
  void finish(std::string const& program, std::string const& outside_tests) const;

 private:
  void write_test(tracing::internal::Recording& recording, TestTag test, std::string const& name) const;

  tracing::internal::ProfileOutputs const files_;
  Attribution const& attribution_;
  Capture const& capture_;
};

}  // namespace testlog::inline v1
