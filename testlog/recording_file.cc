#include "testlog/recording_file.h"

#include <errno.h>
#include <unistd.h>

#include "tracing_core/environment/record_output.h"

namespace testlog::inline v1 {

std::unique_ptr<tracing::internal::Region> RecordingFile::open(Environment const& environment, Output& output,
                                                               internal::ProcessRole const& role) {
  is_default_ = environment.record.empty();
  tracing::internal::RecordingFile file;
  if (!is_default_) {
    file = tracing::internal::open_recording(environment, output);
  } else if (!environment.record_default.empty() && !environment.capture_off) {
    std::string name = program_invocation_short_name;
    if (!role.only_test.empty()) name.append(".").append(role.only_test);
    file = tracing::internal::open_default_recording(environment.record_default, name, environment.record_limit, problem_);
  }
  keeps_all_ = environment.record_keep == RecordKeep::all ||
               (environment.record_keep == RecordKeep::automatic && !is_default_);
  forks_when_made_ = tracing::internal::fork_count();
  if (file.region != nullptr) path_ = file.path;
  return std::move(file.region);
}

void RecordingFile::finish() noexcept {
  if (path_.empty() || keeps_all_ || is_wanted_ || forks_when_made_ != tracing::internal::fork_count()) return;
  unlink(path_.c_str());
  path_.clear();
}

}  // namespace testlog::inline v1
