// Declares run_file(), which asks the cases of one file and compares the answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "suite.h"

namespace conformance {

struct RunOptions {
  std::size_t processes = 2;                  ///< how many run at the same time
  std::chrono::milliseconds timeout{10'000};  ///< for one answer
  std::string only_id;                        ///< run this case alone; empty: all
};

struct Failure {
  std::string id;
  std::string tag;
  std::vector<std::string> lines;  ///< what was expected and what came instead
};

struct FileResult {
  std::size_t passed = 0;
  std::vector<Failure> failures;
};

/// Throws std::runtime_error where the file cannot be read.
FileResult run_file(std::filesystem::path const& path, Suite const& suite, RunOptions const& options);

}  // namespace conformance
