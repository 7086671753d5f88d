// Compares a run that failed with the last recordings of the test that passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testlog/why/run_reader.h"
#include "testlog/why/why_text.h"
#include "tracing_core/record/recording.h"

namespace testlog::why {

/// Bounds what is read where nobody asked for it, as in a failure report: a million entries take some 0.2 s.
inline constexpr std::uint64_t kMaxCompared = 1'000'000;

/// The recordings of a failed test and of its last runs that passed.
struct FailedTest {
  std::string name;
  tracing::recording::Recording& recording;
  std::string file;                  ///< of the recording
  bool is_ending;                    ///< the recording is of this process, and does not have the end of the test yet
  std::vector<std::string> passing;  ///< the paths of the recordings that passed
  NameOfTest name_of{};              ///< see add_failing_runs()
};

/// Compares them. Subtracts the entries that it reads from `entries_left`. Returns nothing if recordings have more
/// entries than are left, if fewer than kMinPassing passing runs can be read, or if there is no difference.
std::optional<Explanation> explain_by_baseline(FailedTest const& test, std::uint64_t& entries_left);

}  // namespace testlog::why
