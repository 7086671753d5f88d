// Runs the cases of one file and compares the answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "suite.h"

namespace conformance {

struct RunOptions {
  std::size_t processes = 2;                  ///< the maximum number of concurrent processes
  std::chrono::milliseconds timeout{10'000};  ///< limit for each answer
  std::string only_id;                        ///< run only this case; empty for all
};

struct Failure {
  std::string id;
  std::string tag;
  std::vector<std::string> lines;  ///< the expected and the actual answer, or the error
};

struct FileResult {
  std::size_t passed = 0;
  std::vector<Failure> failures;
};

/// Throws std::runtime_error if the file cannot be read.
FileResult run_file(std::filesystem::path const& path, Suite const& suite, RunOptions const& options);

}  // namespace conformance
