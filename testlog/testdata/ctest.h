// run_ctest(): runs ctest in a build folder whose tests are scenarios.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"

namespace testlog::testdata {

/// Makes a build folder that has these tests of the program `testlog_scenarios`.
inline void write_ctest(std::string const& build, std::vector<std::string> const& tests) {
  std::filesystem::create_directories(build);
  std::ofstream file(build + "/CTestTestfile.cmake");
  for (std::string const& test : tests)
    file << "add_test([==[" << test << "]==] [==[" << TESTLOG_SCENARIOS << "]==] [==[--gtest_filter=" << test
         << "]==])\n";
}

/// Runs ctest in such a folder. Its tests record as testlog_discover_tests() lets them.
inline Outcome run_ctest(std::string const& build, std::vector<std::string> const& arguments = {},
                         Variables variables = {}) {
  std::vector<std::string> words{TESTLOG_CTEST, "--test-dir", build};
  words.insert(words.end(), arguments.begin(), arguments.end());
  variables.emplace_back("TRACE_RECORD_DEFAULT", build + "/Testing/Temporary/testlog/");
  variables.emplace_back("TRACE_TIME", "none");
  return run(words, variables);
}

}  // namespace testlog::testdata
