// TracesTest: records what a test does and exports it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record.h"

namespace testlog_test {

class TracesTest : public testing::Test {
 protected:
  // Records what `f` does. Returns the path.
  template <class F>
  std::string record(std::string_view name, F f) const {
    auto [layer, error] = tracing::record_layer({.path = folder_ / name});
    EXPECT_FALSE(error) << error.message();
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), f);
    return folder_ / name;
  }
  // The same in a process of its own, which `f` may kill.
  template <class F>
  std::string record_in_child(std::string_view name, F f) const {
    pid_t const child = fork();
    if (child == 0) {
      record(name, f);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    return folder_ / name;
  }
  // Returns standard output.
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
