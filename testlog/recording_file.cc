#include "testlog/recording_file.h"

#include <errno.h>
#include <unistd.h>

#include <string_view>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/record_output.h"

namespace testlog::inline v1 {
namespace {

bool has_test(std::string_view name) noexcept { return name.find("%t") != name.npos; }

}  // namespace

std::filesystem::path default_folder(Environment const& environment) {
  std::filesystem::path const place = environment.record_default;
  return !place.has_filename() || has_test(place.filename().native()) ? place.parent_path() : place;
}

std::unique_ptr<tracing::internal::Region> RecordingFile::open(Environment const& environment, Output& output,
                                                               internal::ProcessRole const& role) {
  is_default_ = environment.record.empty();
  tracing::internal::RecordingFile file;
  if (!is_default_) {
    file = tracing::internal::open_recording(environment, output, role.only_test);
  } else if (!environment.record_default.empty() && !environment.capture_off) {
    std::string const program = program_invocation_short_name;
    std::string name = std::filesystem::path(environment.record_default).filename();
    if (!has_test(name)) name = (role.only_test.empty() ? program : program + ".%t") + ".rec";
    name = tracing::internal::filled_in(name, role.only_test.empty() ? program : role.only_test);
    file = tracing::internal::open_default_recording(default_folder(environment), name, environment.record_limit, problem_);
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
