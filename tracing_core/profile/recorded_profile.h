// start_recording(), stop_recording(): record in memory what a process does between the two calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing_core/profile/profiler_options.h"
#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace internal {

struct RecordedProfile {
  std::string error{};  // says why, if `recording` is null
  std::unique_ptr<recording::Recording> recording{};
  std::uint64_t overwritten = 0;
  // The arguments of start_recording().
  std::string dir{};
  ProfilerOptions options{};
};

/// Starts a profile, one at a time for the whole process. Returns why that failed, or an empty text. Uses the options
/// that select records, and the limit; keeps the other options and `dir` for stop_recording(). Thread-safe.
std::string start_recording(ProfilerOptions options, std::string dir = {});
/// Ends the profile. The recording begins with start_recording(): earlier records are context. It ends now, however
/// early its last record is. Thread-safe.
RecordedProfile stop_recording();

}}}  // namespace tracing::v1::internal
