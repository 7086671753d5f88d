#include "testlog/capture/recording_file.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/passed_recordings.h"
#include "tracing_core/environment/record_output.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/short_text.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::recording::kRecordingSuffix;

bool has_test(std::string_view name) noexcept { return name.find("%t") != name.npos; }

// Replaces %e by the name of the program. If the program has arguments of its own or runs a shard of the tests, adds a
// hash of the arguments and the shard.
std::string with_program(std::string name, framework::Process const& role) {
  std::size_t const place = name.find("%e");
  if (place == name.npos) return name;
  std::string program = program_invocation_short_name;
  std::uint64_t hash = 0;
  for (int i = 1; i < role.argc && role.argv[i] != nullptr; ++i) {
    if (!role.is_of_framework(role.argv[i])) hash = tracing::support::hash_of(role.argv[i], hash + 1);
  }
  char const* const shards = std::getenv("GTEST_TOTAL_SHARDS");
  char const* const shard = std::getenv("GTEST_SHARD_INDEX");
  if (shards != nullptr && shard != nullptr && std::string_view(shards) != "1")
    hash = tracing::internal::hash_of(shard, hash + 1);
  std::array<char, 10> suffix{};
  if (hash != 0)
    std::snprintf(suffix.data(), suffix.size(), "~%08" PRIx32, static_cast<std::uint32_t>(hash ^ hash >> 32));
  return name.replace(place, 2, program + suffix.data());
}

// Returns the name of the file of TRACE_RECORD_DEFAULT. It leaves room for what is added to the name of a failed
// attempt, and has no control characters, which would break the lines of the log of runs.
std::string default_name_of(Environment const& environment, framework::Process const& role) {
  constexpr std::size_t kMaxBytes = 200;
  std::string name = std::filesystem::path(environment.record_default).filename();
  if (!has_test(name)) name = role.only_test.empty() ? "%e.rec" : "%e.%t.rec";
  name = tracing::environment::filled_in(with_program(name, role),
                                         role.only_test.empty() ? program_invocation_short_name : role.only_test);
  bool const is_plain = name.size() <= kMaxBytes && std::none_of(name.begin(), name.end(), [](char c) {
                          return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
                        });
  if (is_plain) return name;
  std::string_view const suffix = name.ends_with(kRecordingSuffix) ? kRecordingSuffix : "";
  name.resize(name.size() - suffix.size());
  return tracing::support::file_name_of(name, kMaxBytes).append(suffix);
}

}  // namespace

std::filesystem::path default_folder(Environment const& environment) {
  std::filesystem::path const place = environment.record_default;
  return !place.has_filename() || has_test(place.filename().native()) ? place.parent_path() : place;
}

std::unique_ptr<tracing::internal::Region> RecordingFile::open(Environment const& environment, Output& output,
                                                               framework::Process const& role,
                                                               tracing::environment::Run const& run) {
  is_default_ = environment.record.empty();
  std::string const default_name = environment.record_default.empty() ? "" : default_name_of(environment, role);
  bool const makes_default = is_default_ && !default_name.empty() && !environment.capture_off;
  std::filesystem::path const folder = default_folder(environment);
  std::error_code error;
  if (makes_default) std::filesystem::create_directories(folder, error);
  if (!default_name.empty()) log_begin(folder, run, default_name);
  tracing::environment::NewRecording file;
  if (!is_default_) {
    file = tracing::environment::open_recording(environment, output, role.only_test);
  } else if (makes_default) {
    file = tracing::environment::open_default_recording(folder, default_name, environment.record_limit, problem_);
    std::string const own = std::filesystem::path(file.path).filename();
    if (file.region != nullptr && own != default_name)
      tracing::environment::RunLog(folder_of_log_).take_file(run_, default_name, own, tracing::Instant::now());
  }
  keeps_all_ =
      environment.record_keep == RecordKeep::all || (environment.record_keep == RecordKeep::automatic && !is_default_);
  passed_ = static_cast<int>(environment.record_passed);
  forks_when_made_ = tracing::support::fork_count();
  if (file.region != nullptr) path_ = file.path;
  return std::move(file.region);
}

void RecordingFile::log_begin(std::filesystem::path const& folder, tracing::environment::Run const& run,
                              std::string const& name) {
  std::error_code error;
  run_ = run;
  folder_of_log_ = std::filesystem::absolute(folder, error);
  name_in_log_ = name;
  tracing::environment::RunLog const log(folder_of_log_);
  // A ctest repeats a test at once, so its earlier attempts are near the end of the log.
  constexpr std::size_t kReadBytes = 64 * 1024;
  auto const attempts = log.attempts(name, kReadBytes);
  attempt_ = 1 + static_cast<int>(std::count_if(attempts.begin(), attempts.end(), [&run](auto const& attempt) {
               return attempt.run == run.id && attempt.program == run.program;
             }));
  log.begin(run_, name_in_log_, tracing::Instant::now());
}

std::vector<std::string> RecordingFile::passed_recordings() const {
  if (folder_of_log_.empty()) return {};
  return tracing::environment::passed_recordings(folder_of_log_, name_in_log_);
}

std::optional<tracing::Instant> RecordingFile::run_began() const {
  if (folder_of_log_.empty() || !run_.is_ctest) return std::nullopt;
  return tracing::environment::RunLog(folder_of_log_).first_of(run_);
}

void RecordingFile::finish(tracing::internal::Region* region) noexcept {
  if (forks_when_made_ != tracing::support::fork_count()) return;
  outcome_.passed = !is_wanted_;  // not if the process ended before its tests
  if (!folder_of_log_.empty())
    tracing::environment::RunLog(folder_of_log_).end(run_, name_in_log_, tracing::Instant::now(), outcome_);
  if (path_.empty()) return;
  if (!is_wanted_ && has_run_ && is_default_ && !folder_of_log_.empty())
    tracing::environment::keep_passed(path_, folder_of_log_, name_in_log_, passed_);
  if (is_wanted_ || keeps_all_) {
    if (region != nullptr) region->cut_unused();
    return;
  }
  unlink(path_.c_str());
  path_.clear();
}

}}  // namespace testlog::v1
