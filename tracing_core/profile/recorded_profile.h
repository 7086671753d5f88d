// start_recording(), stop_recording(): what a process does between the two, as a recording in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing_core/profile/profiler.h"
#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

struct RecordedProfile {
  std::string error{};  // a sentence, if there is no recording
  std::unique_ptr<Recording> recording{};
  std::uint64_t overwritten = 0;
  // Those that it was started with.
  std::string dir{};
  ProfilerOptions options{};
};

/// Returns why not, or nothing. One profile at a time, for the whole process. Of the options uses those that select records
/// and the limit; keeps the others and `dir` for stop_recording(). Thread-safe.
std::string start_recording(ProfilerOptions options, std::string dir = {});
/// The recording begins with start_recording(): earlier records are context. It ends now, whenever its last record was.
/// Thread-safe.
RecordedProfile stop_recording();

}  // namespace tracing::inline v1::internal
