// The faults in testdata/planted/, found by the commands: `testlog hunt` records a run that fails and three that pass,
// and `testlog why`, which it calls, names the fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

struct Fault {
  std::string program, test;
  std::string line;  // a regular expression for a line of testlog why that names the fault
};

std::map<std::string, Fault> const& faults() {
  static std::map<std::string, Fault> const all{
      {"clock", {TESTLOG_PLANTED, "Clock.Planted", "took_us is -[0-9]+; 0 or more in 3 of 3"}},
      {"left_state", {TESTLOG_PLANTED, "Planted/LeftState.*", "level is [0-9]+; 0 in 3 of 3"}},
      {"missed_wake_up", {TESTLOG_PLANTED, "MissedWakeUp.Planted", "take: took|nobody told in time"}},
      {"off_by_one", {TESTLOG_PLANTED, "OffByOne.Planted", "used is 2; 1 in 3 of 3"}},
      {"stale_cache", {TESTLOG_PLANTED, "StaleCache.Planted", "versions_behind is 1; 0 in 3 of 3"}},
      {"time_out", {TESTLOG_PLANTED, "TimeOut.Planted", "busy, so tries again"}},
      {"unset_value", {TESTLOG_PLANTED, "UnsetValue.Planted", "limit is [0-9]+; 64 in 3 of 3"}},
      {"wrong_order", {TESTLOG_PLANTED, "WrongOrder.Planted", "\"loaded\" before \"stored\" of the same job"}},
      {"wrong_thread", {TESTLOG_PLANTED, "WrongThread.Planted", "draw: (recorded in no span; in loop|on main)"}},
#ifdef TESTLOG_PLANTED_CUDA
      {"missing_event",
       {TESTLOG_PLANTED_CUDA, "MissingEvent.Planted",
        "memcpy_dtoh: began on GPU 0 stream 2 before memset_d32_async:memset on GPU 0 stream 1; the other way"}},
#endif
  };
  return all;
}

class PlantedPrograms : public testing::TestWithParam<std::string> {
 protected:
  // Returns what a hunt prints.
  std::string hunt(Fault const& fault) const {
    return testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder_ / ".", TESTLOG_COMMAND, "hunt",
                                   "Planted", "--failing=1", "--passing=3", "--", fault.program,
                                   "--gtest_filter=" + fault.test})
        .out;
  }

  tracing_test::TemporaryFolder const folder_;
};

// Returns the first three lines of an answer.
std::string first_lines(std::string const& answer) {
  std::istringstream lines(answer);
  std::string first;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("1. ") || line.starts_with("2. ") || line.starts_with("3. ")) first += line + '\n';
  return first;
}

// A passing run may have recorded the fault without being hurt by it, so there are three hunts at most.
TEST_P(PlantedPrograms, FaultIsAmongTheFirstThreeLines) {
  Fault const& fault = faults().at(GetParam());
  std::string answers;
  for (int i = 0; i < 3; ++i) {
    answers += hunt(fault);
    if (std::regex_search(first_lines(answers), std::regex(fault.line))) return;
  }
  FAIL() << answers;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (auto const& [name, fault] : faults()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedPrograms, testing::ValuesIn(names()),
                         [](auto const& fault) { return fault.param; });

}  // namespace
