// Exports show tests as the program itself wrote them while it ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/traces/traces_test.h"

namespace {

using nlohmann::json;
using testing::Contains;
using testing::IsSupersetOf;

class ExportedTests : public testlog_test::TracesTest {
 protected:
  std::string record(testlog::testdata::Variables variables) const {
    variables.emplace_back("TRACE_RECORD", folder_ / "run.rec");
    testlog::testdata::run_scenarios("Plain.Passes:Settings.None", variables);
    return folder_ / "run.rec";
  }
};

// Returns texts such as `B Plain.Passes (test)`. Only beginnings have a category.
std::vector<std::string> slices_of(std::string const& text) {
  std::vector<std::string> slices;
  for (json const& record : json::parse(text)) {
    std::string const phase = record["ph"], name = record["name"];
    if (phase != "B" && phase != "E") continue;
    slices.push_back(phase + " " + name);
    if (record.value("cat", "") == "test") slices.back() += " (test)";
    if (record["tid"] != record["pid"]) slices.back() += " on another thread";
  }
  return slices;
}

std::set<std::string> stacks_of(std::string const& text) {
  std::set<std::string> stacks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) stacks.insert(line.substr(0, line.rfind(' ')));
  return stacks;
}

TEST_F(ExportedTests, AreSlicesOfChromeTraces) {
  std::string const recording = record({{"TRACE_CHROME", folder_ / "live.json"}});
  auto const slices = slices_of(run_export({recording, "--chrome"}));
  EXPECT_THAT(slices, IsSupersetOf({"B Plain.Passes (test)", "B launch", "E launch", "B Settings.None (test)"}));
  EXPECT_EQ(slices, slices_of(folder_.read("live.json")));
}

TEST_F(ExportedTests, NameTheProcessesOfChromeTraces) {
  for (std::string const test : {"Plain.Fails", "SpansOnly.Fails"})
    testlog::testdata::run_scenarios(test, {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}});
  std::vector<std::string> names;
  for (json const& one : json::parse(run_export({folder_ / "recordings", "--chrome"})))
    if (one["name"] == "process_name") names.push_back(one["args"]["name"]);
  EXPECT_THAT(names, testing::UnorderedElementsAre("Plain.Fails", "SpansOnly.Fails"));
}

TEST_F(ExportedTests, AreRootsOfFoldedStacks) {
  std::string const recording = record({{"TRACE_FLAME", folder_ / "live.folded"}, {"TRACE_FLAME_TESTS", "on"}});
  auto const stacks = stacks_of(run_export({recording, "--folded"}));
  EXPECT_THAT(stacks, Contains("Plain.Passes;ThreadId(1)-main;library::launch;library::compile"));
  EXPECT_EQ(stacks, stacks_of(folder_.read("live.folded")));
}

}  // namespace
