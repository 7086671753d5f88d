// run_command(): runs the program `testlog` in tests.
#pragma once

#include <string>
#include <vector>

#include "testlog/testdata/run.h"

namespace testlog::testdata {

/// Runs `testlog COMMAND ARGUMENTS...`.
inline Outcome run_command(std::string const& command, std::vector<std::string> const& arguments) {
  std::vector<std::string> words{TESTLOG_COMMAND, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(words);
}

}  // namespace testlog::testdata
