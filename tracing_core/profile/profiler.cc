#include "tracing_core/profile/profiler.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "tracing_core/export/write_all.h"
#include "tracing_core/profile/profile_files.h"
#include "tracing_core/profile/recorded_profile.h"

namespace tracing { inline namespace v1 {
namespace {

void print(std::string const& line) noexcept { internal::write_once(STDERR_FILENO, "testlog: " + line + "\n"); }

void print(ProfileResult const& result, internal::RecordedProfile& profile, ProfilerOptions const& options) {
  if (options.table_rows > 0) {
    std::string const tables = internal::tables_of(profile, options.table_rows);
    std::string_view rest = tables;
    internal::write_all(STDERR_FILENO, rest, true);
  }
  for (std::string const& file : result.files) print("profile written to " + file);
  if (result.overwritten > 0)
    print(std::to_string(result.overwritten) +
          " records of the profile were overwritten; a larger ProfilerOptions::limit_bytes keeps more");
}

// Returns the trace that the page opens; empty if it was not written.
std::string trace_of(ProfileResult const& result) {
  for (std::string const& file : result.files) {
    if (file.ends_with(".pftrace")) return file;
  }
  return {};
}

// Serves a link. Errors are only printed: the profile is already written.
void serve_link(std::string const& trace, LinkOptions const& options) {
  try {
    serve_perfetto_link(trace, options);
  } catch (std::exception const& error) {
    print("no link to " + trace + ": " + error.what());
  }
}

// Returns what is wrong with the name of a folder: "." and ".." would not name a new folder.
std::string check_run(std::string const& run) {
  if (run != "." && run != "..") return {};
  return "ProfilerOptions::run is \"" + run + "\"; expected the name of a folder";
}

}  // namespace

std::string profiler_start(std::string dir, ProfilerOptions options) {
  if (std::string error = check_run(options.run); !error.empty()) return error;
  dir = internal::absolute_path(dir);
  // Start the recording first, so that a profile that is refused makes no folder.
  if (std::string error = internal::start_recording(std::move(options), dir); !error.empty()) return error;
  std::string error = internal::prepare_profile_folder(dir);
  if (!error.empty()) (void)internal::stop_recording();
  return error;
}

ProfileResult profiler_stop() {
  internal::RecordedProfile profile = internal::stop_recording();
  if (!profile.error.empty()) return {.error = std::move(profile.error)};
  ProfilerOptions const& options = profile.options;
  ProfileResult result = internal::write_profile(profile, profile.dir, options);  // keeps profile.recording
  if (options.print) print(result, profile, options);
  std::string const trace = trace_of(result);
  profile.recording.reset();  // the wait may be long
  if (options.create_perfetto_link && !trace.empty()) serve_link(trace, options.link);
  return result;
}

namespace internal {

ProfilerScope::ProfilerScope(std::string dir, ProfilerOptions options, ProfileResult* result) : result_(result) {
  try {
    std::string error = profiler_start(std::move(dir), std::move(options));
    started_ = error.empty();
    if (started_) return;
    if (result_ != nullptr) {
      *result_ = {.error = std::move(error)};
    } else {
      print("with_profiler(): " + error);
    }
  } catch (std::bad_alloc const&) {  // with_profiler() still calls the function
  }
}

ProfilerScope::~ProfilerScope() {
  if (!started_) return;
  try {
    ProfileResult result = profiler_stop();
    if (!result.ok() && result_ == nullptr) print("with_profiler(): " + result.error);
    if (result_ != nullptr) *result_ = std::move(result);
  } catch (std::bad_alloc const&) {
    if (result_ != nullptr) result_->error = "out of memory";  // so short that it is stored without an allocation
  }
}

}  // namespace internal
}}  // namespace tracing::v1
