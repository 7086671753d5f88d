// TracesTest records what a test does and exports it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"

namespace testlog_test {

class TracesTest : public testing::Test {
 protected:
  // Records what `f` does. Returns the path.
  template <class F>
  std::string record(std::string_view name, F f) const {
    return tracing_test::record_to({.path = folder_ / name}, f);
  }
  // Records what `f` does in a child process, which `f` may kill.
  template <class F>
  std::string record_in_child(std::string_view name, F f) const {
    tracing_test::record_in_child({.path = folder_ / name}, f);
    return folder_ / name;
  }
  // Runs `testlog export` and returns its standard output.
  static std::string run_export(std::vector<std::string> const& arguments) { return run("export", arguments); }
  static std::string run_statistics(std::vector<std::string> const& arguments) { return run("stats", arguments); }

  tracing_test::TemporaryFolder const folder_;

 private:
  static std::string run(std::string const& command, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TESTLOG_COMMAND, command});
    testlog::testdata::Outcome const outcome = testlog::testdata::run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
};

}  // namespace testlog_test
