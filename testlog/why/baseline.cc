#include "testlog/why/baseline.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace testlog::why {
namespace {

using tracing::recording::Recording;

// A larger file has more entries than may be read, so it is not decompressed to count them.
constexpr std::uintmax_t kMaxFileBytes = 32 << 20;

// Returns false if the recording has more entries than are left; then none are.
bool take(Recording const& recording, std::uint64_t& entries_left) {
  std::uint64_t const entries = recording.entry_count();
  bool const fits = entries <= entries_left;
  entries_left = fits ? entries_left - entries : 0;
  return fits;
}

}  // namespace

std::optional<Explanation> explain_by_baseline(FailedTest const& test, std::uint64_t& entries_left) {
  if (test.passing.empty() || !take(test.recording, entries_left)) return std::nullopt;
  ComparedTests tests;
  add_failing_runs(
      tests, test.recording, test.file, [&test](std::string_view name) { return name == test.name; },
      test.is_ending ? "failed" : "", test.name_of);
  if (tests.empty()) return std::nullopt;
  for (std::string const& file : test.passing) {
    std::error_code error;
    std::string problem;
    bool const is_small = std::filesystem::file_size(file, error) <= kMaxFileBytes;
    auto const recording = is_small ? Recording::read_file(file, problem) : nullptr;
    if (!is_small || (recording != nullptr && !take(*recording, entries_left))) return std::nullopt;
    if (recording != nullptr) add_passing_runs(tests, *recording, file);
  }
  ComparedTest const& runs = tests.begin()->second;
  if (runs.passing.size() < kMinPassing) return std::nullopt;
  Explanation explanation = explain(test.name, runs);
  if (explanation.causes.empty()) return std::nullopt;
  return explanation;
}

}  // namespace testlog::why
