// Declares Case and how the cases of a file are read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite.h"

namespace conformance {

/// One question and the answer that is expected. Both are JSON as text: parsed, all cases take many times as much memory,
/// which makes each fork slow.
struct Case {
  std::string id;
  std::string tag;
  std::string input;
  std::string expected;
  bool any = false;     ///< any answer will do, as long as there is one
  std::string problem;  ///< why it cannot be run; empty: it can
};

/// Reads a file of cases. Throws std::runtime_error where it is not one; a case that has no proper form has a problem.
std::vector<Case> read_cases(std::filesystem::path const& path);

}  // namespace conformance
