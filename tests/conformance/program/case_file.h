// Reads the cases of a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite.h"

namespace conformance {

/// An input and its expected answer, both as JSON text. If all cases were parsed, they would take many times as much
/// memory, which would slow down each fork.
struct Case {
  std::string id;
  std::string tag;
  std::string input;
  std::string expected;
  bool any = false;     ///< any answer passes, as long as one is given
  std::string problem;  ///< why it cannot be run; empty if it can
};

/// Reads a file of cases. Throws std::runtime_error if it is not an array of cases; a malformed case has a `problem`.
std::vector<Case> read_cases(std::filesystem::path const& path);

}  // namespace conformance
