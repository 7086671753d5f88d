// run_ctest(): runs ctest in a build folder whose tests are scenarios.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"

namespace testlog::testdata {

/// Returns the programs of the CMake that configured this build or, if TESTLOG_TEST_CMAKE names a folder, those in it:
/// the way to test with another version.
inline std::string cmake_program() {
  char const* const folder = std::getenv("TESTLOG_TEST_CMAKE");
  return folder == nullptr ? TESTLOG_CMAKE : std::string(folder) + "/cmake";
}
inline std::string ctest_program() {
  char const* const folder = std::getenv("TESTLOG_TEST_CMAKE");
  return folder == nullptr ? TESTLOG_CTEST : std::string(folder) + "/ctest";
}

/// Makes a build folder that has these tests of the program `testlog_scenarios`.
inline void write_ctest(std::string const& build, std::vector<std::string> const& tests) {
  std::filesystem::create_directories(build);
  std::ofstream file(build + "/CTestTestfile.cmake");
  for (std::string const& test : tests)
    file << "add_test([==[" << test << "]==] [==[" << TESTLOG_SCENARIOS << "]==] [==[--gtest_filter=" << test
         << "]==])\n";
}

/// Returns the names of the recordings that ctest left in such a folder, sorted. T stands for a date and a time.
inline std::vector<std::string> recordings_of(std::string const& build) {
  std::vector<std::string> names;
  std::filesystem::path const folder = build + "/Testing/Temporary/testlog";
  if (!std::filesystem::is_directory(folder)) return names;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".rec") continue;
    static std::regex const time("[0-9]{8}-[0-9]{6}-[0-9]{3}");
    names.push_back(std::regex_replace(entry.path().filename().string(), time, "T"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs ctest in such a folder. Its tests record as testlog_discover_tests() lets them.
inline Outcome run_ctest(std::string const& build, std::vector<std::string> const& arguments = {},
                         Variables variables = {}) {
  std::vector<std::string> words{ctest_program(), "--test-dir", build};
  words.insert(words.end(), arguments.begin(), arguments.end());
  variables.emplace_back("TRACE_RECORD_DEFAULT", build + "/Testing/Temporary/testlog/");
  variables.emplace_back("TRACE_TIME", "none");
  return run(words, variables);
}

}  // namespace testlog::testdata
