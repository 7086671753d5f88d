// Statements hide no race of the program from ThreadSanitizer, whatever testlog does with their records.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace testlog { namespace {

using testdata::Outcome;
using testdata::run;
using testdata::Variables;

// Newer kernels give address spaces more randomness than the sanitizer of GCC 12 knows.
std::string const& fixed_addresses() {
  static std::string const setarch = [] {
    std::string const path = "/usr/bin/setarch";
    bool const works =
        access(path.c_str(), X_OK) == 0 && run({path, "--addr-no-randomize", "/bin/true"}).exit_code == 0;
    return works ? path : std::string();
  }();
  return setarch;
}

// Returns how many of ten races of each kind are found.
std::map<std::string, int> found_by(std::string const& program, Variables variables) {
  variables.emplace_back("TSAN_OPTIONS",
                         "suppress_equal_stacks=0 suppress_equal_addresses=0 symbolize=0 halt_on_error=0 exitcode=0");
  std::vector<std::string> words{program, "--gtest_brief=1"};
  if (!fixed_addresses().empty()) words.insert(words.begin(), {fixed_addresses(), "--addr-no-randomize"});
  Outcome const outcome = run(words, variables);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(testdata::count(outcome.out, "not planted"), 0) << outcome.err;
  std::map<std::string, int> found;
  std::istringstream lines(outcome.out);
  std::string kind;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    if (in >> kind >> count && in.eof()) found[kind] = count;
  }
  return found;
}

class Races : public testing::TestWithParam<char const*> {
 protected:
  void expect_found(Variables const& variables) const {
    auto found = found_by(GetParam(), variables);
    EXPECT_EQ(found.size(), 15u);
    for (auto const& [kind, count] : found) EXPECT_EQ(count, 10) << kind;
  }
};

TEST_P(Races, AreFoundIfAllIsOff) { expect_found({{"TRACE_CAPTURE", "off"}, {"TRACE_FILTER", "off"}}); }

TEST_P(Races, AreFoundIfOnlyOtherLevelsAreOn) { expect_found({{"TRACE_CAPTURE", "warn"}, {"TRACE_FILTER", "error"}}); }

TEST_P(Races, AreFoundIfRecordsAreCaptured) { expect_found({}); }

TEST_P(Races, AreFoundIfRecordsGoToAFile) {
  tracing_test::TemporaryFolder const folder;
  expect_found({{"TRACE_RECORD", folder / "races.rec"}});
}

TEST_P(Races, AreFoundIfRecordsArePrinted) {
  tracing_test::TemporaryFolder const folder;
  expect_found({{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", folder / "out"}});
}

TEST_P(Races, AreFoundIfThreadsArePerturbed) { expect_found({{"TRACE_PERTURB", "4711,20"}}); }

INSTANTIATE_TEST_SUITE_P(Programs, Races, testing::Values(TESTLOG_RACES));

}}  // namespace testlog
