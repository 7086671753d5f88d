// Tests that start programs, whose spans are then children of theirs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tracing_core/environment/child_environment.h"
#include "tracing_core/tracing.h"

namespace {

// Runs a test of this program in another process. Returns its exit status.
int run_here(std::string const& test) {
  std::string command;
  for (auto const& [name, value] : tracing::child_environment())
    command.append(name).append("=").append(value).append(" ");
  command += "exec /proc/" + std::to_string(getpid()) + "/exe --gtest_filter=" + test + " >/dev/null 2>&1";
  return std::system(command.c_str());
}

TEST(Child, IsStartedInASpan) {
  TRACE_SPAN(info, "start");
  EXPECT_EQ(run_here("Plain.Passes"), 0);
}
TEST(Child, IsStartedOutsideOfSpans) { EXPECT_EQ(run_here("Plain.Passes"), 0); }

}  // namespace
