// Keeps the recordings of attempts that failed when the test runs again.
#pragma once

#include <string>

namespace tracing { inline namespace v1 { namespace environment {

/// The number of recordings of earlier attempts that stay beside the newest recording of a test.
inline constexpr int kMaxFailedAttempts = 5;

/// Called before the recording `<folder>/<name>` is made. If an ended process has left a recording of this name, and
/// the log of runs does not say that its tests passed, renames it to `<name>.<date>-<time>.attempt-<number>.rec`. The
/// time in UTC, to the millisecond, is the beginning of the recording; the number is the attempt in its run. Then
/// removes the oldest such recordings of `name` beyond kMaxFailedAttempts. Does nothing if another process records in
/// the file.
void keep_failed_attempt(std::string const& folder, std::string const& name) noexcept;

/// Returns the name under which an attempt recorded: `name` without what keep_failed_attempt() adds to it.
std::string name_of_attempt(std::string const& name);

}}}  // namespace tracing::v1::environment
