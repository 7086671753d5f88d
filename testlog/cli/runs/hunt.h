// Hunt: repeats a test until it has failed and passed often enough, and keeps the recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "testlog/cli/runs/repeated_process.h"

namespace testlog::cli {

struct HuntOptions {
  std::string test;
  std::size_t failing = 3, passing = 10;  ///< how many recordings are wanted
  std::int64_t longest_ns = 0;            ///< the time limit of the hunt
  std::vector<std::string> command;       ///< runs the test once, and succeeds if it passes
  std::filesystem::path folder;           ///< gets the recordings; must not exist
  bool perturbs = true;                   ///< sets TRACE_PERTURB
  std::uint64_t first_seed = 1;           ///< the seed of the first run; later runs count up
  std::uint32_t max_us = 200;             ///< the longest wait, for TRACE_PERTURB
};

/// The runs so far. `folder`/failing has the recordings of failing runs, each with the output of its run;
/// `folder`/passing has the recordings of passing runs.
struct HuntResult {
  enum class End : std::uint8_t { found, out_of_time, interrupted, always_fails };

  End end = End::found;
  std::size_t runs = 0, failed = 0, passed = 0;
  std::size_t first_failed = 0;      ///< the number of the first failing run; 0: no run failed
  std::string first_perturbation{};  ///< TRACE_PERTURB of this run; empty: not set
  bool has_hung = false;             ///< a run was stopped because it took much longer than the others
  std::size_t kept_failing = 0, kept_passing = 0;
  std::int64_t ns = 0;
};

/// Runs the command again and again. A run that takes twenty times as long as the longest one that passed, and ten
/// seconds more, is stopped and counts as failed. Throws std::runtime_error if the command cannot be run, or if a run
/// leaves no recording.
HuntResult hunt(HuntOptions const& options, RepeatedProcess& process);

}  // namespace testlog::cli
